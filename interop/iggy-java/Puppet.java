import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

import org.apache.iggy.client.blocking.tcp.IggyTcpClient;
import org.apache.iggy.consumergroup.Consumer;
import org.apache.iggy.consumergroup.ConsumerGroup;
import org.apache.iggy.consumergroup.ConsumerGroupMember;
import org.apache.iggy.identifier.ConsumerId;
import org.apache.iggy.identifier.StreamId;
import org.apache.iggy.identifier.TopicId;
import org.apache.iggy.identifier.UserId;
import org.apache.iggy.message.Message;
import org.apache.iggy.message.Partitioning;
import org.apache.iggy.message.PollingStrategy;
import org.apache.iggy.message.PolledMessages;
import org.apache.iggy.personalaccesstoken.PersonalAccessTokenInfo;
import org.apache.iggy.stream.StreamBase;
import org.apache.iggy.system.ClientInfo;
import org.apache.iggy.system.ClientInfoDetails;
import org.apache.iggy.system.Stats;
import org.apache.iggy.topic.CompressionAlgorithm;
import org.apache.iggy.topic.Topic;
import org.apache.iggy.user.GlobalPermissions;
import org.apache.iggy.user.Permissions;
import org.apache.iggy.user.UserInfo;
import org.apache.iggy.user.UserStatus;

import tools.jackson.databind.json.JsonMapper;

/**
 * Iggy's Java client as a puppet: one command a line in, one line of JSON out (see ../README.md).
 *
 * Compiled once for each release, together with the {@code Release} of its generation.
 */
public final class Puppet {
    private static final JsonMapper JSON = new JsonMapper();
    private static final Map<String, Verb> VERBS = new HashMap<>();

    private final IggyTcpClient client;

    private Puppet(IggyTcpClient client) {
        this.client = client;
    }

    private interface Verb {
        Object act(Puppet puppet, Words words);
    }

    public static void main(String[] arguments) throws Exception {
        String[] address = arguments[0].split(":");
        Puppet puppet = new Puppet(Release.connect(address[0], Integer.parseInt(address[1])));
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            System.out.println(JSON.writeValueAsString(puppet.answer(new Words(line))));
        }
        System.exit(0);
    }

    private Map<String, Object> answer(Words words) {
        Verb verb = VERBS.get(words.next());
        if (verb == null) {
            return Map.of("unable", "this client has no such command");
        }
        Map<String, Object> answer = new HashMap<>();
        try {
            answer.put("ok", verb.act(this, words));
        } catch (UnsupportedOperationException lack) {
            answer.put("unable", lack.getMessage());
        } catch (RuntimeException error) {
            error.printStackTrace();
            answer.put("error", Release.status(error).<Object>map(code -> code).orElse(String.valueOf(error)));
        }
        return answer;
    }

    // -- the node, users and tokens ---------------------------------------------------------------------------------

    static {
        VERBS.put("ping", (puppet, words) -> {
            puppet.client.system().ping();
            return null;
        });
        VERBS.put("stats", (puppet, words) -> {
            Stats stats = puppet.client.system().getStats();
            return List.of(stats.streamsCount(), stats.topicsCount(), stats.partitionsCount(), stats.messagesCount());
        });
        VERBS.put("me", (puppet, words) -> described(puppet.client.system().getMe()));
        VERBS.put("client", (puppet, words) -> described(puppet.client.system().getClient(words.number())));
        VERBS.put("clients", (puppet, words) ->
                puppet.client.system().getClients().stream().map(ClientInfo::clientId).sorted().toList());

        VERBS.put("login", (puppet, words) -> puppet.client.users().login(words.next(), words.next()).userId());
        VERBS.put("logout", (puppet, words) -> {
            puppet.client.users().logout();
            return null;
        });
        VERBS.put("create-user", (puppet, words) -> puppet.client.users()
                .createUser(words.next(), words.next(), UserStatus.Active, words.permissions()).id());
        VERBS.put("users", (puppet, words) ->
                puppet.client.users().getUsers().stream().map(UserInfo::username).sorted().toList());
        VERBS.put("user", (puppet, words) -> puppet.client.users().getUser(words.user())
                .map(user -> List.of(user.username(), user.status().name(), allowed(user.permissions())))
                .orElse(null));
        VERBS.put("rename-user", (puppet, words) -> {
            puppet.client.users().updateUser(words.user(), Optional.of(words.next()), Optional.empty());
            return null;
        });
        VERBS.put("disable-user", (puppet, words) -> {
            puppet.client.users().updateUser(words.user(), Optional.empty(), Optional.of(UserStatus.Inactive));
            return null;
        });
        VERBS.put("permit-user", (puppet, words) -> {
            puppet.client.users().updatePermissions(words.user(), words.permissions());
            return null;
        });
        VERBS.put("change-password", (puppet, words) -> {
            puppet.client.users().changePassword(words.user(), words.next(), words.next());
            return null;
        });
        VERBS.put("delete-user", (puppet, words) -> {
            puppet.client.users().deleteUser(words.user());
            return null;
        });

        VERBS.put("create-token", (puppet, words) -> puppet.client.personalAccessTokens()
                .createPersonalAccessToken(words.next(), BigInteger.ZERO).token());
        VERBS.put("tokens", (puppet, words) -> puppet.client.personalAccessTokens().getPersonalAccessTokens().stream()
                .map(PersonalAccessTokenInfo::name).sorted().toList());
        VERBS.put("login-token", (puppet, words) ->
                puppet.client.personalAccessTokens().loginWithPersonalAccessToken(words.next()).userId());
        VERBS.put("delete-token", (puppet, words) -> {
            puppet.client.personalAccessTokens().deletePersonalAccessToken(words.next());
            return null;
        });
    }

    private static List<Object> described(ClientInfoDetails client) {
        return List.of(client.clientId(), client.userId().orElse(-1L), client.transport(), client.consumerGroupsCount());
    }

    /** The global rights to poll and to send: what {@code Words.permissions} gives. */
    private static List<Boolean> allowed(Optional<Permissions> permissions) {
        return permissions.map(each -> List.of(each.global().pollMessages(), each.global().sendMessages()))
                .orElse(List.of(false, false));
    }

    // -- streams, topics, partitions --------------------------------------------------------------------------------

    static {
        VERBS.put("create-stream", (puppet, words) -> puppet.client.streams().createStream(words.next()).id());
        VERBS.put("streams", (puppet, words) ->
                puppet.client.streams().getStreams().stream().map(StreamBase::name).sorted().toList());
        VERBS.put("stream", (puppet, words) -> puppet.client.streams().getStream(words.stream())
                .map(stream -> List.of(stream.name(), stream.topicsCount(), stream.messagesCount()))
                .orElse(null));
        VERBS.put("rename-stream", (puppet, words) -> {
            puppet.client.streams().updateStream(words.stream(), words.next());
            return null;
        });
        VERBS.put("delete-stream", (puppet, words) -> {
            puppet.client.streams().deleteStream(words.stream());
            return null;
        });

        VERBS.put("create-topic", (puppet, words) -> {
            StreamId stream = words.stream();
            String name = words.next();
            return puppet.client.topics().createTopic(stream, words.number(), CompressionAlgorithm.None,
                    BigInteger.ZERO, BigInteger.ZERO, Optional.empty(), name).id();
        });
        VERBS.put("topics", (puppet, words) ->
                puppet.client.topics().getTopics(words.stream()).stream().map(Topic::name).sorted().toList());
        VERBS.put("topic", (puppet, words) -> puppet.client.topics().getTopic(words.stream(), words.topic())
                .map(topic -> List.of(topic.name(), topic.partitionsCount(), topic.messagesCount(),
                        topic.partitions().stream().map(each -> each.messagesCount()).toList()))
                .orElse(null));
        VERBS.put("rename-topic", (puppet, words) -> {
            puppet.client.topics().updateTopic(words.stream(), words.topic(), CompressionAlgorithm.None,
                    BigInteger.ZERO, BigInteger.ZERO, Optional.empty(), words.next());
            return null;
        });
        VERBS.put("delete-topic", (puppet, words) -> {
            puppet.client.topics().deleteTopic(words.stream(), words.topic());
            return null;
        });
        VERBS.put("add-partitions", (puppet, words) -> {
            puppet.client.partitions().createPartitions(words.stream(), words.topic(), words.number());
            return null;
        });
        VERBS.put("remove-partitions", (puppet, words) -> {
            puppet.client.partitions().deletePartitions(words.stream(), words.topic(), words.number());
            return null;
        });
    }

    // -- messages, offsets, groups ----------------------------------------------------------------------------------

    static {
        VERBS.put("send", (puppet, words) -> puppet.send(words, false));
        VERBS.put("send-headed", (puppet, words) -> puppet.send(words, true));
        VERBS.put("poll", (puppet, words) -> {
            PolledMessages polled = puppet.client.messages().pollMessages(words.stream(), words.topic(),
                    words.partition(), words.consumer(), words.strategy(), words.number(), words.next().equals("commit"));
            List<Object> messages = new ArrayList<>();
            for (Message each : polled.messages()) {
                messages.add(List.of(each.header().offset(), each.header().timestamp(),
                        each.header().id().toBigInteger(), new String(each.payload(), StandardCharsets.UTF_8),
                        Release.headers(each)));
            }
            return List.of(polled.partitionId(), polled.currentOffset(), messages);
        });

        VERBS.put("store-offset", (puppet, words) -> {
            puppet.client.consumerOffsets().storeConsumerOffset(words.stream(), words.topic(), words.partition(),
                    words.consumer(), BigInteger.valueOf(words.number()));
            return null;
        });
        VERBS.put("offset", (puppet, words) -> puppet.client.consumerOffsets()
                .getConsumerOffset(words.stream(), words.topic(), words.partition(), words.consumer())
                .map(offset -> List.of(offset.partitionId(), offset.currentOffset(), offset.storedOffset()))
                .orElse(null));

        VERBS.put("create-group", (puppet, words) -> puppet.client.consumerGroups()
                .createConsumerGroup(words.stream(), words.topic(), words.next()).id());
        VERBS.put("groups", (puppet, words) -> puppet.client.consumerGroups()
                .getConsumerGroups(words.stream(), words.topic()).stream().map(ConsumerGroup::name).sorted().toList());
        VERBS.put("group", (puppet, words) -> puppet.client.consumerGroups()
                .getConsumerGroup(words.stream(), words.topic(), words.group())
                .map(group -> List.of(group.name(), group.partitionsCount(),
                        group.members().stream().map(ConsumerGroupMember::partitions).toList()))
                .orElse(null));
        VERBS.put("join-group", (puppet, words) -> {
            puppet.client.consumerGroups().joinConsumerGroup(words.stream(), words.topic(), words.group());
            return null;
        });
        VERBS.put("leave-group", (puppet, words) -> {
            puppet.client.consumerGroups().leaveConsumerGroup(words.stream(), words.topic(), words.group());
            return null;
        });
        VERBS.put("delete-group", (puppet, words) -> {
            puppet.client.consumerGroups().deleteConsumerGroup(words.stream(), words.topic(), words.group());
            return null;
        });
    }

    private Object send(Words words, boolean headed) {
        StreamId stream = words.stream();
        TopicId topic = words.topic();
        Partitioning partitioning = words.partitioning();
        List<Message> messages = new ArrayList<>();
        long first = words.number();
        for (long number = first, count = words.number(); number < first + count; number++) {
            byte[] payload = ("message " + number).getBytes(StandardCharsets.UTF_8);
            Map<String, String> headers = headed ? Map.of("n", String.valueOf(number)) : Map.of();
            messages.add(Release.message(BigInteger.valueOf(number + 1), payload, headers));
        }
        client.messages().sendMessages(stream, topic, partitioning, messages);
        return null;
    }

    /** The words of one command, taken one after the other. */
    private static final class Words {
        private final String[] words;
        private int taken;

        Words(String line) {
            words = line.split(" ");
        }

        String next() {
            return words[taken++];
        }

        long number() {
            return Long.parseLong(next());
        }

        StreamId stream() {
            return StreamId.of(next());
        }

        TopicId topic() {
            return TopicId.of(next());
        }

        UserId user() {
            return UserId.of(next());
        }

        ConsumerId group() {
            return ConsumerId.of(next());
        }

        /** A number, or {@code -} for whichever the server chooses. */
        Optional<Long> partition() {
            String word = next();
            return word.equals("-") ? Optional.empty() : Optional.of(Long.valueOf(word));
        }

        Consumer consumer() {
            String[] parts = next().split(":");
            return parts[0].equals("group") ? Consumer.group(ConsumerId.of(parts[1]))
                    : Consumer.of(Long.valueOf(parts[1]));
        }

        Partitioning partitioning() {
            String[] parts = next().split(":");
            switch (parts[0]) {
                case "partition":
                    return Partitioning.partitionId(Long.valueOf(parts[1]));
                case "key":
                    return Partitioning.messagesKey(parts[1]);
                default:
                    return Partitioning.balanced();
            }
        }

        PollingStrategy strategy() {
            String[] parts = next().split(":");
            switch (parts[0]) {
                case "offset":
                    return PollingStrategy.offset(new BigInteger(parts[1]));
                case "timestamp":
                    return PollingStrategy.timestamp(new BigInteger(parts[1]));
                case "first":
                    return PollingStrategy.first();
                case "last":
                    return PollingStrategy.last();
                default:
                    return PollingStrategy.next();
            }
        }

        /** {@code all}, {@code poll} (read topics and poll them, everywhere) or {@code none}. */
        Optional<Permissions> permissions() {
            String word = next();
            boolean all = word.equals("all");
            boolean poll = all || word.equals("poll");
            return word.equals("none") ? Optional.empty() : Optional.of(new Permissions(
                    new GlobalPermissions(all, all, all, all, all, all, all, poll, poll, all), Map.of()));
        }
    }
}
