import java.math.BigInteger;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.apache.iggy.client.blocking.tcp.IggyTcpClient;
import org.apache.iggy.message.Message;
import org.apache.iggy.message.MessageHeader;
import org.apache.iggy.message.MessageId;

/** What release 0.6 has its own way for: keys of user headers are texts, and an error is a sentence with a number. */
final class Release {
    private static final Pattern STATUS = Pattern.compile("invalid response with status (\\d+)");

    private Release() {
    }

    static IggyTcpClient connect(String host, int port) {
        return new IggyTcpClient(host, port);
    }

    static Message message(BigInteger id, byte[] payload, Map<String, String> headers) {
        if (!headers.isEmpty()) {
            throw new UnsupportedOperationException("0.6 announces user headers and does not send them");
        }
        MessageHeader header = new MessageHeader(BigInteger.ZERO, MessageId.from(id), BigInteger.ZERO, BigInteger.ZERO,
                BigInteger.ZERO, 0L, (long) payload.length);
        return new Message(header, payload, Optional.empty());
    }

    static Map<String, String> headers(Message message) {
        Map<String, String> texts = new TreeMap<>();
        message.userHeaders().orElse(Map.of()).forEach((key, value) -> texts.put(key, value.value()));
        return texts;
    }

    /** The server's code, or nothing where the client itself has failed. */
    static Optional<Integer> status(RuntimeException error) {
        Matcher found = STATUS.matcher(String.valueOf(error.getMessage()));
        return found.find() ? Optional.of(Integer.valueOf(found.group(1))) : Optional.empty();
    }
}
