import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.TreeMap;

import org.apache.kafka.clients.consumer.AcknowledgeType;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaShareConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicIdPartition;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;

/**
 * Kafka's share consumer as a puppet: one command a line in, one line of JSON out (see ../README.md).
 *
 * A puppet of its own, because only the newest generation of the client has share groups.
 */
public final class SharePuppet {
    private static final Duration POLL = Duration.ofMillis(200);

    private final String bootstrap;
    private final Map<String, Member> members = new HashMap<>();
    private KafkaProducer<String, String> producer;

    private SharePuppet(String bootstrap) {
        this.bootstrap = bootstrap;
    }

    public static void main(String[] arguments) throws Exception {
        SharePuppet puppet = new SharePuppet(arguments[0]);
        BufferedReader commands = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = commands.readLine(); line != null; line = commands.readLine()) {
            System.out.println(puppet.answer(line.split(" ")));
        }
        System.exit(0);
    }

    private String answer(String[] words) {
        try {
            return "{\"ok\": " + obey(words[0], words) + "}";
        } catch (Exception failure) {
            Throwable cause = failure.getCause() == null ? failure : failure.getCause();
            return "{\"error\": " + quoted(String.valueOf(cause)) + "}";
        }
    }

    private String obey(String command, String[] words) throws Exception {
        switch (command) {
            case "produce":
                return produce(words[1], Integer.parseInt(words[2]), Integer.parseInt(words[3]), Integer.parseInt(words[4]));
            case "join":
                members.put(words[1], new Member(words[2], words[3], words.length > 4 ? words[4] : "implicit"));
                return "null";
            case "poll":
                return members.get(words[1]).poll(Long.parseLong(words[2]));
            case "acknowledge":
                return members.get(words[1]).acknowledge(Integer.parseInt(words[2]), Long.parseLong(words[3]), words[4]);
            case "commit":
                return members.get(words[1]).commit();
            case "leave":
                members.remove(words[1]).consumer.close(Duration.ofSeconds(10));
                return "null";
            default:
                return "null}, {\"unable\": " + quoted(command);
        }
    }

    /** Records with the values FIRST, FIRST + 1, ..., all in one batch if the client likes; waits for all. */
    private String produce(String topic, int partition, int first, int count) throws Exception {
        if (producer == null) {
            Properties settings = new Properties();
            settings.put("bootstrap.servers", bootstrap);
            producer = new KafkaProducer<>(settings, new StringSerializer(), new StringSerializer());
        }
        for (int number = first; number < first + count; number++) {
            producer.send(new ProducerRecord<>(topic, partition, null, String.valueOf(number)));
        }
        producer.flush();
        return "null";
    }

    /** One share consumer, and the records of its last poll. */
    private final class Member {
        private final KafkaShareConsumer<String, String> consumer;
        private final Map<String, ConsumerRecord<String, String>> records = new HashMap<>();

        private Member(String group, String topic, String mode) {
            Properties settings = new Properties();
            settings.put("bootstrap.servers", bootstrap);
            settings.put("group.id", group);
            settings.put("share.acknowledgement.mode", mode);
            consumer = new KafkaShareConsumer<>(settings, new StringDeserializer(), new StringDeserializer());
            consumer.subscribe(List.of(topic));
        }

        /** Until something comes or the time is over: [[partition, offset, value, delivery count], ...]. */
        private String poll(long patienceMillis) {
            long deadline = System.nanoTime() + patienceMillis * 1_000_000;
            List<String> found = new ArrayList<>();
            records.clear();
            do {
                for (ConsumerRecord<String, String> record : consumer.poll(POLL)) {
                    records.put(record.partition() + "-" + record.offset(), record);
                    found.add(String.format("[%d, %d, %s, %d]", record.partition(), record.offset(),
                        quoted(record.value()), record.deliveryCount().orElse((short) -1)));
                }
            } while (found.isEmpty() && System.nanoTime() < deadline);
            return "[" + String.join(", ", found) + "]";
        }

        private String acknowledge(int partition, long offset, String type) {
            consumer.acknowledge(records.get(partition + "-" + offset), AcknowledgeType.valueOf(type.toUpperCase()));
            return "null";
        }

        /** What went wrong, by partition; nothing did if it is empty. */
        private String commit() {
            Map<String, String> failures = new TreeMap<>();
            for (Map.Entry<TopicIdPartition, Optional<KafkaException>> each : consumer.commitSync().entrySet()) {
                each.getValue().ifPresent(failure -> failures.put(String.valueOf(each.getKey().partition()), failure.toString()));
            }
            List<String> fields = new ArrayList<>();
            failures.forEach((partition, failure) -> fields.add(quoted(partition) + ": " + quoted(failure)));
            return "{" + String.join(", ", fields) + "}";
        }
    }

    private static String quoted(String text) {
        return "\"" + text.replace("\\", "\\\\").replace("\"", "\\\"").replace("\n", "\\n") + "\"";
    }
}
