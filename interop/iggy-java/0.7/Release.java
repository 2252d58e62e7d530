import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

import org.apache.iggy.client.blocking.tcp.IggyTcpClient;
import org.apache.iggy.exception.IggyServerException;
import org.apache.iggy.message.HeaderKey;
import org.apache.iggy.message.HeaderValue;
import org.apache.iggy.message.Message;
import org.apache.iggy.message.MessageHeader;
import org.apache.iggy.message.MessageId;

/** What the releases from 0.7 on have their own way for: typed keys of user headers, and errors that know their code. */
final class Release {
    private Release() {
    }

    /**
     * One connection: with several, a member joins its group on one and polls on another, where it is unknown.
     * By TLS if PUPPET_CA names the authority to trust.
     */
    static IggyTcpClient connect(String host, int port) {
        var builder = IggyTcpClient.builder().host(host).port(port).connectionPoolSize(1);
        String authority = System.getenv("PUPPET_CA");
        if (authority != null) {
            builder = builder.enableTls().tlsCertificate(authority);
        }
        IggyTcpClient client = builder.build();
        client.connect();
        return client;
    }

    static Message message(BigInteger id, byte[] payload, Map<String, String> headers) {
        MessageHeader header = new MessageHeader(BigInteger.ZERO, MessageId.from(id), BigInteger.ZERO, BigInteger.ZERO,
                BigInteger.ZERO, 0L, (long) payload.length, BigInteger.ZERO);
        Map<HeaderKey, HeaderValue> typed = new HashMap<>();
        headers.forEach((key, value) -> typed.put(HeaderKey.fromString(key), HeaderValue.fromString(value)));
        return new Message(header, payload, Map.of()).withUserHeaders(typed);
    }

    static Map<String, String> headers(Message message) {
        Map<String, String> texts = new TreeMap<>();
        message.userHeaders().forEach((key, value) -> texts.put(text(key.value()), text(value.value())));
        return texts;
    }

    private static String text(byte[] bytes) {
        return new String(bytes, StandardCharsets.UTF_8);
    }

    /** The server's code, or nothing where the client itself has failed. */
    static Optional<Integer> status(RuntimeException error) {
        for (Throwable each = error; each != null; each = each.getCause()) {
            if (each instanceof IggyServerException) {
                return Optional.of(((IggyServerException) each).getRawErrorCode());
            }
        }
        return Optional.empty();
    }
}
