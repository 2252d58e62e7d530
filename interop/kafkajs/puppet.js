// KafkaJS as a puppet: one command a line in, one line of JSON out (see ../README.md).

const fs = require('node:fs')
const readline = require('node:readline')
const { CompressionCodecs, CompressionTypes, ConfigResourceTypes, Kafka, logLevel } = require('kafkajs')
const lz4 = require('lz4js')
const snappy = require('kafkajs-snappy')
const { ZstdCodec } = require('zstd-codec')

const FIRST_TIMESTAMP = 1_700_000_000_000
const PATIENCE_MS = 30_000

const CODECS = {
  none: CompressionTypes.None,
  gzip: CompressionTypes.GZIP,
  snappy: CompressionTypes.Snappy,
  lz4: CompressionTypes.LZ4,
  zstd: CompressionTypes.ZSTD,
}

// KafkaJS brings gzip only; the others are plugged in by its users.
const zstd = new Promise((resolve) => ZstdCodec.run((codec) => resolve(new codec.Simple())))
CompressionCodecs[CompressionTypes.Snappy] = snappy
CompressionCodecs[CompressionTypes.LZ4] = () => ({
  compress: async (encoder) => Buffer.from(lz4.compress(encoder.buffer)),
  decompress: async (buffer) => Buffer.from(lz4.decompress(buffer)),
})
CompressionCodecs[CompressionTypes.ZSTD] = () => ({
  compress: async (encoder) => Buffer.from((await zstd).compress(encoder.buffer)),
  decompress: async (buffer) => Buffer.from((await zstd).decompress(buffer)),
})

// How it proves itself, and whom it trusts: from its environment.
const { PUPPET_CA: authority, PUPPET_LOGIN: login } = process.env
const [mechanism, username, password] = (login ?? '').split(' ')

const kafka = new Kafka({
  brokers: [process.argv[2]],
  ssl: authority ? { ca: [fs.readFileSync(authority)] } : undefined,
  sasl: login ? { mechanism: mechanism.toLowerCase(), username, password } : undefined,
  clientId: 'puppet',
  logLevel: logLevel.WARN,
  logCreator: () => ({ log }) => process.stderr.write(`${log.message} ${log.error ?? ''}\n`),
  retry: { initialRetryTime: 50, maxRetryTime: 500, retries: 60 },
})
const admin = kafka.admin()
const members = new Map()
let throwaways = 0
let connectedProducer

// It is kept: what is sent later meets the connection and the producer id of before.
function producer() {
  connectedProducer ??= (async () => {
    const made = kafka.producer({ idempotent: true, maxInFlightRequests: 1, metadataMaxAge: 1000 })
    await made.connect()
    return made
  })()
  return connectedProducer
}

async function send(topic, codec, messages) {
  const [answer] = await (await producer()).send({ topic, acks: -1, compression: CODECS[codec], messages })
  return Number(answer.baseOffset)
}

function message(number, partition, bytes) {
  return {
    partition,
    key: `k${number}`,
    value: `${number}:`.padEnd(bytes, '.'),
    timestamp: String(FIRST_TIMESTAMP + number),
    headers: { n: String(number), empty: Buffer.alloc(0) },
  }
}

const text = (bytes) => (bytes === null ? null : bytes.toString())

function asList({ offset, timestamp, key, value, headers }) {
  const pairs = Object.entries(headers).map(([name, each]) => [name, text(each)])
  return [Number(offset), Number(timestamp), text(key), text(value), pairs]
}

// KafkaJS reads in groups only: one that nobody uses again is told where to begin.
async function consume(topic, partition, offset, count) {
  const records = []
  const consumer = kafka.consumer({ groupId: `throwaway-${process.pid}-${throwaways++}`, maxWaitTimeInMs: 100 })
  await consumer.connect()
  await consumer.subscribe({ topics: [topic], fromBeginning: true })
  await new Promise((resolve, reject) => {
    const patience = setTimeout(resolve, PATIENCE_MS)
    consumer.run({
      autoCommit: false,
      eachMessage: async (each) => {
        if (each.partition === partition && Number(each.message.offset) >= offset && records.length < count) {
          records.push(asList(each.message))
        }
        if (records.length === count) {
          clearTimeout(patience)
          resolve()
        }
      },
    }).catch(reject)
    consumer.seek({ topic, partition, offset: String(offset) })
  })
  await consumer.disconnect()
  return records
}

async function join(name, groupId, topic) {
  const consumer = kafka.consumer({ groupId, heartbeatInterval: 300, sessionTimeout: 10_000, maxWaitTimeInMs: 100 })
  const member = { consumer, assignment: [], seen: [] }
  consumer.on(consumer.events.GROUP_JOIN, ({ payload }) => {
    member.assignment = (payload.memberAssignment[topic] ?? []).sort()
  })
  consumer.on(consumer.events.REBALANCING, () => { member.assignment = [] })
  members.set(name, member)
  await consumer.connect()
  await consumer.subscribe({ topics: [topic], fromBeginning: true })
  await consumer.run({
    autoCommitInterval: 100,
    eachMessage: async ({ partition, message: each }) => { member.seen.push([partition, Number(each.offset)]) },
  })
  return null
}

async function leave(name) {
  await members.get(name).consumer.disconnect()
  members.delete(name)
  return null
}

const topicOf = (name, extra = {}) => ({ type: ConfigResourceTypes.TOPIC, name, ...extra })

async function config(name) {
  const { resources } = await admin.describeConfigs({ includeSynonyms: false, resources: [topicOf(name)] })
  return resources[0].configEntries
}

// There is no incremental change: everything that differs from its default is sent along.
async function setConfig(topic, name, value) {
  const kept = (await config(topic)).filter((each) => !each.isDefault && each.configName !== name)
  const entries = kept.map((each) => ({ name: each.configName, value: each.configValue }))
  await admin.alterConfigs({ validateOnly: false, resources: [topicOf(topic, { configEntries: [...entries, { name, value }] })] })
  return null
}

async function createTopic(topic, numPartitions, ...settings) {
  const configEntries = settings.map((each) => ({ name: each.split('=')[0], value: each.split('=')[1] }))
  const isNew = await admin.createTopics({ topics: [{ topic, numPartitions: Number(numPartitions), configEntries }] })
  if (!isNew) throw new Error(`topic ${topic} exists`)
  return null
}

const offsetOf = (offsets, partition) => offsets.find((each) => each.partition === Number(partition))

const COMMANDS = {
  'create-topic': createTopic,
  'add-partitions': async (topic, count) => {
    await admin.createPartitions({ topicPartitions: [{ topic, count: Number(count) }] })
    return null
  },
  'delete-topic': async (topic) => {
    await admin.deleteTopics({ topics: [topic] })
    return null
  },
  topics: async () => (await admin.listTopics()).sort(),
  'set-config': setConfig,
  'get-config': async (topic, name) => (await config(topic)).find((each) => each.configName === name).configValue,
  produce: async (topic, partition, codec, first, count, bytes) => {
    const numbers = Array.from({ length: Number(count) }, (_, index) => Number(first) + index)
    const base = await send(topic, codec, numbers.map((each) => message(each, Number(partition), Number(bytes))))
    return numbers.map((_, index) => base + index)
  },
  'produce-null': (topic, partition) => send(topic, 'none', [{ partition: Number(partition), key: null, value: null }]),
  consume: (topic, partition, offset, count) => consume(topic, Number(partition), Number(offset), Number(count)),
  'offset-at': async (topic, partition, timestamp) => {
    const offsets = await admin.fetchTopicOffsetsByTimestamp(topic, Number(timestamp))
    return Number(offsetOf(offsets, partition).offset)
  },
  'delete-records': async (topic, partition, offset) => {
    await admin.fetchTopicOffsets(topic) // KafkaJS looks for the leader before it has asked who that is.
    await admin.deleteTopicRecords({ topic, partitions: [{ partition: Number(partition), offset }] })
    return null
  },
  ends: async (topic, partition) => {
    const { low, high } = offsetOf(await admin.fetchTopicOffsets(topic), partition)
    return [Number(low), Number(high)]
  },
  join,
  assignment: async (name) => members.get(name).assignment,
  seen: async (name) => members.get(name).seen,
  leave,
  committed: async (groupId, topic) => {
    const [{ partitions }] = await admin.fetchOffsets({ groupId, topics: [topic] })
    const known = partitions.filter((each) => each.offset !== '-1')
    return Object.fromEntries(known.map((each) => [each.partition, Number(each.offset)]))
  },
  groups: async () => (await admin.listGroups()).groups.map((each) => each.groupId).sort(),
  members: async (group) => (await admin.describeGroups([group])).groups[0].members.length,
  'delete-group': async (group) => {
    await admin.deleteGroups([group])
    return null
  },
}

let connected

async function answer(line) {
  const [command, ...words] = line.split(' ')
  try {
    await (connected ??= admin.connect())
    return { ok: await COMMANDS[command](...words) }
  } catch (failure) {
    return { error: String(failure) }
  }
}

async function main() {
  for await (const line of readline.createInterface({ input: process.stdin })) {
    process.stdout.write(`${JSON.stringify(await answer(line))}\n`)
  }
  process.exit(0)
}

main()
