import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;

import org.apache.kafka.clients.admin.AdminClient;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.Config;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.ConsumerGroupListing;
import org.apache.kafka.clients.admin.NewPartitions;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.RecordsToDelete;
import org.apache.kafka.clients.consumer.ConsumerGroupMetadata;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.consumer.OffsetAndTimestamp;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/**
 * Kafka's Java client as a puppet: one command a line in, one line of JSON out (see ../README.md).
 *
 * Compiled once, against 3.9.1, and run with every generation of the client: what one of them lacks is found when it
 * is called, and answered in the older way.
 */
public final class Puppet {
    private static final long FIRST_TIMESTAMP = 1_700_000_000_000L;
    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final Duration POLL = Duration.ofMillis(100);

    private final String bootstrap;
    private final AdminClient admin;
    private final Map<String, KafkaProducer<byte[], byte[]>> producers = new HashMap<>();
    private final Map<String, Member> members = new HashMap<>();

    private Puppet(String bootstrap) {
        this.bootstrap = bootstrap;
        this.admin = AdminClient.create(settings());
    }

    public static void main(String[] arguments) throws Exception {
        Puppet puppet = new Puppet(arguments[0]);
        BufferedReader commands = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = commands.readLine(); line != null; line = commands.readLine()) {
            System.out.println(puppet.answer(line.split(" ")));
        }
        System.exit(0);
    }

    private String answer(String[] words) {
        try {
            return "{\"ok\": " + Json.text(obey(words[0], words)) + "}";
        } catch (ExecutionException failure) {
            return "{\"error\": " + Json.text(String.valueOf(failure.getCause())) + "}";
        } catch (Exception failure) {
            return "{\"error\": " + Json.text(String.valueOf(failure)) + "}";
        }
    }

    private Object obey(String command, String[] words) throws Exception {
        switch (command) {
            case "create-topic":
                return createTopic(words[1], Integer.parseInt(words[2]), Arrays.asList(words).subList(3, words.length));
            case "add-partitions":
                admin.createPartitions(one(words[1], NewPartitions.increaseTo(Integer.parseInt(words[2])))).all().get();
                return null;
            case "delete-topic":
                admin.deleteTopics(Collections.singleton(words[1])).all().get();
                return null;
            case "topics":
                return new TreeSet<>(admin.listTopics().names().get());
            case "set-config":
                setConfig(words[1], new ConfigEntry(words[2], words[3]));
                return null;
            case "get-config":
                return config(words[1]).get(words[2]).value();
            case "produce":
                return produce(new TopicPartition(words[1], Integer.parseInt(words[2])), words[3],
                        Integer.parseInt(words[4]), Integer.parseInt(words[5]), Integer.parseInt(words[6]));
            case "produce-null":
                return producer("none").send(new ProducerRecord<>(words[1], Integer.parseInt(words[2]), null, null))
                        .get().offset();
            case "consume":
                return consume(new TopicPartition(words[1], Integer.parseInt(words[2])), Long.parseLong(words[3]),
                        Integer.parseInt(words[4]));
            case "offset-at":
                return offsetAt(new TopicPartition(words[1], Integer.parseInt(words[2])), Long.parseLong(words[3]));
            case "delete-records":
                admin.deleteRecords(one(new TopicPartition(words[1], Integer.parseInt(words[2])),
                        RecordsToDelete.beforeOffset(Long.parseLong(words[3])))).all().get();
                return null;
            case "ends":
                return ends(new TopicPartition(words[1], Integer.parseInt(words[2])));
            default:
                return obeyForGroups(command, words);
        }
    }

    private Object obeyForGroups(String command, String[] words) throws Exception {
        switch (command) {
            case "join":
                members.put(words[1], new Member(words.length > 4 ? newConsumer(words[2]) : consumer(words[2]), words[3]));
                return null;
            case "assignment":
                return members.get(words[1]).assignment();
            case "seen":
                return members.get(words[1]).seen();
            case "leave":
                members.remove(words[1]).leave();
                return null;
            case "committed":
                return committed(words[1], words[2]);
            case "groups":
                TreeSet<String> names = new TreeSet<>();
                for (ConsumerGroupListing each : admin.listConsumerGroups().all().get()) {
                    names.add(each.groupId());
                }
                return names;
            case "members":
                return admin.describeConsumerGroups(Collections.singleton(words[1])).all().get().get(words[1])
                        .members().size();
            case "delete-group":
                admin.deleteConsumerGroups(Collections.singleton(words[1])).all().get();
                return null;
            default:
                return obeyForTransactions(command, words);
        }
    }

    /** The first word of each is a name for the producer, so that two of them can have one transactional id. */
    private Object obeyForTransactions(String command, String[] words) throws Exception {
        switch (command) {
            case "tx-init":
                producers.put(words[1], transactional(words[2], words[3]));
                producers.get(words[1]).initTransactions();
                return null;
            case "tx-begin":
                producers.get(words[1]).beginTransaction();
                return null;
            case "tx-send":
                return producers.get(words[1]).send(new ProducerRecord<>(words[2], Integer.parseInt(words[3]), null,
                        utf8(words[4]))).get().offset();
            case "tx-offset":
                sendOffset(producers.get(words[1]), words[2],
                        one(new TopicPartition(words[3], Integer.parseInt(words[4])),
                                new OffsetAndMetadata(Long.parseLong(words[5]))));
                return null;
            case "tx-commit":
                producers.get(words[1]).commitTransaction();
                return null;
            case "tx-abort":
                producers.get(words[1]).abortTransaction();
                return null;
            case "read-committed":
                return readCommitted(new TopicPartition(words[1], Integer.parseInt(words[2])));
            default:
                throw new IllegalArgumentException("unknown command " + command);
        }
    }

    // -- topics ---------------------------------------------------------------------------------------------------

    private Object createTopic(String name, int partitions, List<String> settings) throws Exception {
        Map<String, String> configs = new HashMap<>();
        for (String setting : settings) {
            configs.put(setting.split("=")[0], setting.split("=")[1]);
        }
        NewTopic topic = new NewTopic(name, partitions, (short) 1).configs(configs);
        admin.createTopics(Collections.singleton(topic)).all().get();
        return null;
    }

    private Config config(String topic) throws Exception {
        ConfigResource resource = new ConfigResource(ConfigResource.Type.TOPIC, topic);
        return admin.describeConfigs(Collections.singleton(resource)).all().get().get(resource);
    }

    /** Clients before 2.3 know no incremental change: they send everything that differs from its default. */
    @SuppressWarnings("deprecation")
    private void setConfig(String topic, ConfigEntry entry) throws Exception {
        ConfigResource resource = new ConfigResource(ConfigResource.Type.TOPIC, topic);
        try {
            AlterConfigOp change = new AlterConfigOp(entry, AlterConfigOp.OpType.SET);
            admin.incrementalAlterConfigs(one(resource, Collections.singleton(change))).all().get();
        } catch (NoClassDefFoundError tooOld) {
            List<ConfigEntry> entries = new ArrayList<>();
            entries.add(entry);
            for (ConfigEntry each : config(topic).entries()) {
                if (!each.isDefault() && !each.name().equals(entry.name())) {
                    entries.add(each);
                }
            }
            admin.alterConfigs(one(resource, new Config(entries))).all().get();
        }
    }

    // -- records --------------------------------------------------------------------------------------------------

    private List<Long> produce(TopicPartition to, String codec, int first, int count, int bytes) throws Exception {
        List<Future<RecordMetadata>> sent = new ArrayList<>();
        for (int number = first; number < first + count; number++) {
            StringBuilder value = new StringBuilder().append(number).append(':');
            while (value.length() < bytes) {
                value.append('.');
            }
            ProducerRecord<byte[], byte[]> record = new ProducerRecord<>(to.topic(), to.partition(),
                    FIRST_TIMESTAMP + number, utf8("k" + number), utf8(value.toString()));
            record.headers().add("n", utf8(String.valueOf(number))).add("empty", new byte[0]);
            sent.add(producer(codec).send(record));
        }
        producer(codec).flush();
        List<Long> offsets = new ArrayList<>();
        for (Future<RecordMetadata> each : sent) {
            offsets.add(each.get().offset());
        }
        return offsets;
    }

    private List<Object> consume(TopicPartition from, long offset, int count) {
        List<Object> records = new ArrayList<>();
        long deadline = System.nanoTime() + PATIENCE.toNanos();
        try (KafkaConsumer<byte[], byte[]> consumer = consumer(null)) {
            consumer.assign(Collections.singleton(from));
            consumer.seek(from, offset);
            while (records.size() < count && System.nanoTime() < deadline) {
                for (ConsumerRecord<byte[], byte[]> record : consumer.poll(POLL)) {
                    records.add(asList(record));
                }
            }
        }
        return records.subList(0, Math.min(count, records.size()));
    }

    private static List<Object> asList(ConsumerRecord<byte[], byte[]> record) {
        List<Object> headers = new ArrayList<>();
        for (Header header : record.headers()) {
            headers.add(Arrays.asList(header.key(), text(header.value())));
        }
        return Arrays.asList(record.offset(), record.timestamp(), text(record.key()), text(record.value()), headers);
    }

    private Long offsetAt(TopicPartition partition, long timestamp) {
        try (KafkaConsumer<byte[], byte[]> consumer = consumer(null)) {
            OffsetAndTimestamp found = consumer.offsetsForTimes(one(partition, timestamp)).get(partition);
            return found == null ? null : found.offset();
        }
    }

    private List<Long> ends(TopicPartition partition) {
        Collection<TopicPartition> only = Collections.singleton(partition);
        try (KafkaConsumer<byte[], byte[]> consumer = consumer(null)) {
            return Arrays.asList(consumer.beginningOffsets(only).get(partition),
                    consumer.endOffsets(only).get(partition));
        }
    }

    // -- groups ---------------------------------------------------------------------------------------------------

    private Map<String, Object> committed(String group, String topic) throws Exception {
        Map<String, Object> offsets = new TreeMap<>();
        Map<TopicPartition, OffsetAndMetadata> found =
                admin.listConsumerGroupOffsets(group).partitionsToOffsetAndMetadata().get();
        for (Map.Entry<TopicPartition, OffsetAndMetadata> each : found.entrySet()) {
            if (each.getKey().topic().equals(topic) && each.getValue() != null) {
                offsets.put(String.valueOf(each.getKey().partition()), each.getValue().offset());
            }
        }
        return offsets;
    }

    /** A member of a group: polls and commits in a thread of its own until it is told to leave. */
    private static final class Member extends Thread {
        private final KafkaConsumer<byte[], byte[]> consumer;
        private final String topic;
        private final List<Object> seen = new ArrayList<>();
        private List<Integer> assignment = Collections.emptyList();
        private volatile boolean isLeaving;

        Member(KafkaConsumer<byte[], byte[]> consumer, String topic) {
            this.consumer = consumer;
            this.topic = topic;
            setDaemon(true);
            start();
        }

        @Override
        public void run() {
            consumer.subscribe(Collections.singleton(topic));
            while (!isLeaving) {
                for (ConsumerRecord<byte[], byte[]> record : consumer.poll(POLL)) {
                    note(record);
                }
                noteAssignment();
            }
            consumer.close();
        }

        private synchronized void note(ConsumerRecord<byte[], byte[]> record) {
            seen.add(Arrays.asList((long) record.partition(), record.offset()));
        }

        private synchronized void noteAssignment() {
            TreeSet<Integer> partitions = new TreeSet<>();
            for (TopicPartition each : consumer.assignment()) {
                partitions.add(each.partition());
            }
            assignment = new ArrayList<>(partitions);
        }

        synchronized List<Integer> assignment() {
            return assignment;
        }

        synchronized List<Object> seen() {
            return new ArrayList<>(seen);
        }

        void leave() throws InterruptedException {
            isLeaving = true;
            join();
        }
    }

    // -- transactions ---------------------------------------------------------------------------------------------

    /** Everything up to the last stable offset, by its value. */
    private List<Object> readCommitted(TopicPartition from) {
        List<Object> values = new ArrayList<>();
        Properties settings = consumerSettings(null);
        settings.put("isolation.level", "read_committed");
        try (KafkaConsumer<byte[], byte[]> consumer = consumerWith(settings)) {
            Collection<TopicPartition> only = Collections.singleton(from);
            consumer.assign(only);
            consumer.seekToBeginning(only);
            long end = consumer.endOffsets(only).get(from);
            long deadline = System.nanoTime() + PATIENCE.toNanos();
            while (consumer.position(from) < end && System.nanoTime() < deadline) {
                for (ConsumerRecord<byte[], byte[]> record : consumer.poll(POLL)) {
                    values.add(text(record.value()));
                }
            }
        }
        return values;
    }

    /** Clients before 2.5 name the group and nothing more; 4.0 knows no other way than to describe it. */
    @SuppressWarnings("deprecation")
    private static void sendOffset(KafkaProducer<byte[], byte[]> producer, String group,
            Map<TopicPartition, OffsetAndMetadata> offsets) {
        try {
            producer.sendOffsetsToTransaction(offsets, new ConsumerGroupMetadata(group));
        } catch (NoClassDefFoundError tooOld) {
            producer.sendOffsetsToTransaction(offsets, group);
        }
    }

    private KafkaProducer<byte[], byte[]> transactional(String id, String timeoutMs) {
        Properties settings = settings();
        settings.put("transactional.id", id);
        settings.put("transaction.timeout.ms", timeoutMs);
        settings.put("retry.backoff.ms", "20");
        settings.put("max.block.ms", String.valueOf(PATIENCE.toMillis()));
        return new KafkaProducer<>(settings, new ByteArraySerializer(), new ByteArraySerializer());
    }

    // -- clients --------------------------------------------------------------------------------------------------

    private Properties settings() {
        Properties settings = new Properties();
        settings.put("bootstrap.servers", bootstrap);
        settings.put("reconnect.backoff.max.ms", "200");
        secure(settings);
        return settings;
    }

    /** How it proves itself, and whom it trusts: from its environment. */
    private static void secure(Properties settings) {
        String authority = System.getenv("PUPPET_CA");
        String login = System.getenv("PUPPET_LOGIN");
        String protocol = (login == null ? "" : "SASL_") + (authority == null ? "PLAINTEXT" : "SSL");
        settings.put("security.protocol", protocol);
        if (authority != null) {
            settings.put("ssl.truststore.type", "PEM");
            settings.put("ssl.truststore.location", authority);
        }
        if (login != null) {
            String[] words = login.split(" ");
            String module = words[0].equals("PLAIN") ? "plain.PlainLoginModule" : "scram.ScramLoginModule";
            settings.put("sasl.mechanism", words[0]);
            settings.put("sasl.jaas.config", String.format(
                    "org.apache.kafka.common.security.%s required username=\"%s\" password=\"%s\";",
                    module, words[1], words[2]));
        }
    }

    /** One for each codec, kept: what is sent later meets the connection and the producer id of before. */
    private KafkaProducer<byte[], byte[]> producer(String codec) {
        return producers.computeIfAbsent(codec, name -> {
            Properties settings = settings();
            settings.put("compression.type", name);
            settings.put("enable.idempotence", "true");
            settings.put("acks", "all");
            settings.put("linger.ms", "5");
            settings.put("max.request.size", String.valueOf(8 << 20));
            return new KafkaProducer<>(settings, new ByteArraySerializer(), new ByteArraySerializer());
        });
    }

    private KafkaConsumer<byte[], byte[]> consumer(String group) {
        return consumerWith(consumerSettings(group));
    }

    /** A member that speaks KIP-848: how often its heart beats is the broker's affair then. */
    private KafkaConsumer<byte[], byte[]> newConsumer(String group) {
        Properties settings = consumerSettings(group);
        settings.remove("heartbeat.interval.ms");
        settings.remove("session.timeout.ms");
        settings.put("group.protocol", "consumer");
        return consumerWith(settings);
    }

    private static KafkaConsumer<byte[], byte[]> consumerWith(Properties settings) {
        return new KafkaConsumer<>(settings, new ByteArrayDeserializer(), new ByteArrayDeserializer());
    }

    private Properties consumerSettings(String group) {
        Properties settings = settings();
        settings.put("auto.offset.reset", "earliest");
        settings.put("enable.auto.commit", String.valueOf(group != null));
        settings.put("auto.commit.interval.ms", "100");
        settings.put("heartbeat.interval.ms", "300");
        settings.put("session.timeout.ms", "10000");
        settings.put("metadata.max.age.ms", "1000");
        if (group != null) {
            settings.put("group.id", group);
        }
        return settings;
    }

    private static <K, V> Map<K, V> one(K key, V value) {
        return Collections.singletonMap(key, value);
    }

    private static byte[] utf8(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private static String text(byte[] bytes) {
        return bytes == null ? null : new String(bytes, StandardCharsets.UTF_8);
    }

    /** Enough of JSON to answer: the oldest clients bring no library for it. */
    private static final class Json {
        static String text(Object value) {
            if (value == null || value instanceof Number) {
                return String.valueOf(value);
            }
            List<String> parts = new ArrayList<>();
            if (value instanceof Map) {
                for (Map.Entry<?, ?> each : ((Map<?, ?>) value).entrySet()) {
                    parts.add(quoted(String.valueOf(each.getKey())) + ": " + text(each.getValue()));
                }
                return "{" + String.join(", ", parts) + "}";
            }
            if (value instanceof Collection) {
                for (Object each : (Collection<?>) value) {
                    parts.add(text(each));
                }
                return "[" + String.join(", ", parts) + "]";
            }
            return quoted(String.valueOf(value));
        }

        private static String quoted(String text) {
            StringBuilder quoted = new StringBuilder("\"");
            for (char letter : text.toCharArray()) {
                if (letter == '"' || letter == '\\') {
                    quoted.append('\\').append(letter);
                } else if (letter < ' ') {
                    quoted.append(String.format("\\u%04x", (int) letter));
                } else {
                    quoted.append(letter);
                }
            }
            return quoted.append('"').toString();
        }
    }
}
