import { Redis } from 'ioredis';
import { systemClock } from '../../../src/lib/clock.ts';
import { datesOf, unmeasuredDates } from '../../../src/store/dates.ts';
import { newKeyAt } from '../../../src/store/order-key.ts';
import {
  isClosed,
  type OrderRecord,
  type RecordedOutcome,
  type Reservation,
} from '../../../src/store/order-records.ts';
import { RedisConnection, RedisSilentError } from '../../../src/store/redis/connection.ts';
import { RedisHealth } from '../../../src/store/redis/redis-health.ts';
import { RedisOrderRecords } from '../../../src/store/redis/redis-records.ts';
import { createSeededRandom } from '../../support/seeded-random.ts';
import { accepted, rejected, request } from '../order-records-contract.ts';

const NODES = 3;
const PROCESSES = 3;
const STEPS = 120;
const STEPS_BESIDE = 8;
const MINUTE_MS = 60_000;
/** The database of the snapshot, after those of the nodes. */
const SNAPSHOT = NODES;

/** Lets a script run on one node of the model: its own database, INFO and clock. */
const ON_NODE = `
local node, real = cjson.decode(ARGV[2]), redis
real.call('SELECT', node.database)
local redis = setmetatable({call = function(name, first, ...)
  if name == 'INFO' then return node.info[first] end
  if name == 'TIME' then return node.time end
  return real.call(name, first, ...)
end}, {__index = real})
`;

/** Replaces all keys of one database by those of another. */
const COPY = `
redis.call('SELECT', ARGV[2])
redis.call('FLUSHDB')
redis.call('SELECT', ARGV[1])
for _, key in ipairs(redis.call('KEYS', '*')) do redis.call('COPY', key, key, 'DB', ARGV[2]) end
`;

/** Changes the text of each script, so that a test can leave a clause of the rule out. */
export type ChangeScript = (text: string) => string;

/** One Redis of the model. */
interface Node {
  readonly database: number;
  run: string;
  replication: string;
  aheadMs: number;
  isUp: boolean;
  /** The primary that this replica follows; null for a primary, and for a replica without a connection. */
  follows: Node | null;
  isReplica: boolean;
  /** A primary that was cut off still lists its replicas for some time. */
  lists: number;
}

/** One process of the service. */
interface Process {
  readonly records: RedisOrderRecords;
  readonly connection: NodeConnection;
  readonly state: { node: Node; isMeasured: boolean; isDead: boolean };
  unsettled: (readonly [Reservation, RecordedOutcome])[];
}

interface Order {
  readonly account: string;
  readonly key: string;
  sent: number;
  /** Whether a client has read that the order will never be sent. */
  isClosed: boolean;
}

/** Runs the model with random choices. Returns the number of sent orders. Throws at the first broken rule. */
export async function runRedisOrders(
  redisUrl: string,
  runs: number,
  seed: number,
  change: ChangeScript = (text) => text,
): Promise<number> {
  const redis = new Redis(redisUrl);
  try {
    let sent = 0;
    for (let run = 0; run < runs; run += 1) {
      sent += await new RedisWorld(redis, seed * runs + run, change).play();
    }
    return sent;
  } finally {
    redis.disconnect();
  }
}

/** The connection of a process to a node, through which the real scripts run in a real Redis. */
class NodeConnection extends RedisConnection {
  readonly #world: RedisWorld;
  readonly #state: Process['state'];
  /** How many commands have no answer yet. */
  busy = 0;

  constructor(world: RedisWorld, state: Process['state']) {
    super(world.redis, 60_000, new RedisHealth(() => {}));
    this.#world = world;
    this.#state = state;
  }

  override run(
    text: string,
    keys: readonly string[],
    args: readonly (string | number)[],
  ): Promise<unknown> {
    return this.#counted(() => {
      const on = JSON.stringify(this.#world.viewOf(this.#state.node));
      return super.run(`${ON_NODE}${this.#world.change(text)}`, keys, [...args, on]);
    });
  }

  override copies(wanted: number): Promise<number> {
    return this.#counted(() => this.#world.confirm(this.#state.node, wanted));
  }

  override onReady(): void {}

  override close(): void {}

  async #counted<T>(task: () => Promise<T>): Promise<T> {
    if (this.#state.isDead || !this.#state.node.isUp) throw new RedisSilentError('no answer');
    this.busy += 1;
    try {
      return await task();
    } finally {
      this.busy -= 1;
    }
  }
}

/**
 * A primary with two asynchronous replicas, processes with wrong clocks of their own, and clients that repeat, void and read
 * orders. Each node is a database of one real Redis. The model decides what a replica has, what `WAIT` answers, and the time.
 */
class RedisWorld {
  readonly redis: Redis;
  readonly change: ChangeScript;
  readonly #random: ReturnType<typeof createSeededRandom>;
  readonly #nodes: readonly Node[];
  readonly #processes: Process[] = [];
  readonly #orders: Order[] = [];
  readonly #events: string[] = [];
  #primary: Node;
  #hasSnapshot = false;
  #nowMs = Date.now();
  /** How far the gateway's clock, by which keys are made and judged, is ahead. */
  #gatewayMs = 0;
  #ids = 0;

  constructor(redis: Redis, seed: number, change: ChangeScript) {
    this.redis = redis;
    this.change = change;
    this.#random = createSeededRandom(seed);
    const nodes = Array.from({ length: NODES }, (_, database) => this.#newNode(database));
    const [primary] = nodes as [Node];
    this.#nodes = nodes;
    this.#primary = primary;
    for (const node of nodes) if (node !== primary) follow(node, primary);
  }

  /** Returns the number of sent orders. */
  async play(): Promise<number> {
    await this.redis.flushall();
    for (let n = 0; n < PROCESSES; n += 1) this.#processes.push(await this.#newProcess());
    const [steps, faults] = [this.#steps(), this.#faults()];
    for (let step = 0; step < STEPS; step += 1) {
      const isFault = this.#random.happens(0.06);
      await this.#random.pick(isFault ? faults : steps)();
      if (isFault && this.#random.happens(0.5)) await this.#repeatAtOnce();
      await this.#quiet();
      this.#nowMs += this.#random.below(this.#random.happens(0.15) ? 5_000 : 300);
    }
    return this.#orders.filter(({ sent }) => sent > 0).length;
  }

  /** What the scripts see of a node. */
  viewOf({ database, run, replication, aheadMs, isReplica, ...node }: Node) {
    const atMs = this.#nowMs + aheadMs;
    const listed = Math.max(node.lists, this.#followersOf(database).length);
    const replicas = Array.from(
      { length: listed },
      (_, n) => `slave${n}:ip=10.0.0.${n},port=6379,state=online,offset=1,lag=0`,
    );
    const role = `role:${isReplica ? 'slave' : 'master'}`;
    return {
      database,
      time: [String(Math.floor(atMs / 1_000)), String((atMs % 1_000) * 1_000)],
      info: {
        server: `run_id:${run}`,
        replication: [role, ...replicas, `master_replid:${replication}`].join('\r\n'),
        persistence: 'aof_enabled:1',
        memory: 'maxmemory:0\r\nmaxmemory_policy:noeviction',
      },
    };
  }

  /** What WAIT answers. A replica may have the writes without its answer being counted. */
  async confirm(node: Node, wanted: number): Promise<number> {
    let have = 0;
    for (const follower of shuffled(this.#followersOf(node.database), this.#random)) {
      if (have >= wanted && this.#random.happens(0.6)) continue;
      const isLate = this.#random.happens(0.05);
      if (isLate && this.#random.happens(0.5)) continue;
      await this.#copy(node.database, follower.database);
      if (!isLate) have += 1;
    }
    return have;
  }

  #steps(): readonly (() => Promise<void>)[] {
    return [
      () => this.#place(this.#newOrder()),
      () => this.#place(this.#newOrder()),
      () => this.#place(this.#anyOrder()),
      () => this.#place(this.#anyOrder(5)),
      () => this.#place(this.#anyOrder(5)),
      () => this.#void(this.#random.happens(0.3) ? this.#newOrder() : this.#anyOrder(20)),
      () => this.#find(this.#anyOrder(20)),
      () => this.#look(this.#process()),
      () => this.#look(this.#process()),
    ];
  }

  #faults(): readonly (() => Promise<void>)[] {
    return [
      () => this.#failOver(),
      () => this.#failOver(),
      () => this.#restart(),
      () => this.#split(),
      () => this.#setGatewayBack(),
      () => this.#snapshot(),
      () => this.#replaceProcess(),
      () => this.#rejoin(),
      () => this.#rejoin(),
      () => this.#useFormerPrimary(),
      async () => {
        const node = this.#random.pick(this.#nodes);
        if (node !== this.#primary) node.follows = null;
      },
      async () => {
        this.#random.pick(this.#nodes).aheadMs = this.#anyClock();
      },
    ];
  }

  async #place(order: Order, process = this.#process()): Promise<void> {
    const placed = { ...request(order.account, ''), key: order.key, inputDigest: order.key };
    const answer = await process.records.reserve(placed).catch(() => null);
    if (answer === null) return;
    if (!answer.reserved) return this.#noteRecord(order, answer.record);
    order.sent += 1;
    this.#events.push(`${order.key} sent`);
    if (order.sent > 1) this.#fail(`${order.key} was sent twice`);
    if (order.isClosed)
      this.#fail(`${order.key} was sent after a client read that it never will be`);
    const outcome = this.#random.happens(0.5) ? accepted : rejected;
    process.unsettled.push([answer.reservation, outcome]);
    if (this.#random.happens(0.1)) await this.#replaceProcess(process);
    else await this.#settleAll(process);
  }

  /** After a fault the processes use the new primary at once, and clients repeat the orders without an answer. */
  async #repeatAtOnce(): Promise<void> {
    await this.#rejoin();
    for (const process of this.#processes) {
      process.state.node = this.#primary;
      this.#nowMs += this.#random.below(200);
      await this.#look(process);
      await process.records.look();
    }
    for (const order of this.#orders.slice(-4)) await this.#place(order);
  }

  async #void(order: Order): Promise<void> {
    const { account } = request(order.account, '');
    const answer = await this.#process()
      .records.voidKey({ account, key: order.key })
      .catch(() => null);
    if (answer !== null) this.#noteRecord(order, answer.record);
  }

  async #find(order: Order): Promise<void> {
    const { account } = request(order.account, '');
    const found = await this.#process()
      .records.find(account, order.key)
      .catch(() => undefined);
    if (found === null && order.sent > 0) this.#fail(`${order.key} was sent, but has no record`);
    if (found) this.#noteRecord(order, found);
  }

  #noteRecord(order: Order, record: OrderRecord): void {
    if (!isClosed(record)) return;
    order.isClosed = true;
    if (order.sent > 0) this.#fail(`${order.key} was sent, but reads as closed`);
  }

  /** A look also repeats the outcomes that are not confirmed yet. */
  async #look(process: Process): Promise<void> {
    process.state.isMeasured = true;
    if (this.#random.happens(0.7)) process.state.node = this.#primary;
    await process.records.look();
    await this.#settleAll(process);
  }

  async #settleAll(process: Process): Promise<void> {
    const failed: typeof process.unsettled = [];
    for (const each of process.unsettled) {
      await process.records.settle(...each).catch(() => failed.push(each));
    }
    process.unsettled = failed;
  }

  /** The primary dies or is cut off, and a fresh, lagging or stale replica is promoted. */
  async #failOver(): Promise<void> {
    const former = this.#primary;
    const next = this.#random.pick(this.#nodes.filter((node) => node !== former));
    this.#events.push(`${next.database} is promoted after ${former.database}`);
    promote(next, this.#newId());
    if (!next.isUp) next.run = this.#newId();
    next.isUp = true;
    former.isUp = this.#random.happens(0.5);
    former.lists = this.#random.below(2);
    this.#primary = next;
    for (const node of this.#nodes) {
      if (node.follows === former) node.follows = null;
      if (node !== next && node !== former && this.#random.happens(0.7)) await this.#join(node);
    }
    // Some processes still use a primary that was cut off.
    for (const { state } of this.#processes) {
      if (!former.isUp || this.#random.happens(0.6)) state.node = next;
    }
  }

  /** The primary starts with all its data, with that of an earlier snapshot, or empty. */
  async #restart(): Promise<void> {
    const node = this.#primary;
    this.#events.push(`${node.database} restarts`);
    node.run = this.#newId();
    node.replication = this.#newId();
    if (this.#hasSnapshot && this.#random.happens(0.5)) await this.#copy(SNAPSHOT, node.database);
    else if (this.#random.happens(0.1)) await this.#copy(SNAPSHOT + 1, node.database);
    for (const follower of this.#followersOf(node.database)) await this.#join(follower);
  }

  async #snapshot(): Promise<void> {
    this.#hasSnapshot = true;
    await this.#copy(this.#primary.database, SNAPSHOT);
  }

  /** A node that died, was cut off or lost its connection becomes a replica of the primary. */
  async #rejoin(): Promise<void> {
    const away = this.#nodes.filter((node) => node !== this.#primary && node.follows === null);
    if (away.length > 0) await this.#join(this.#random.pick(away));
  }

  async #join(node: Node): Promise<void> {
    if (!node.isUp) node.run = this.#newId();
    node.isUp = true;
    follow(node, this.#primary);
    await this.#copy(this.#primary.database, node.database);
  }

  /** The primary is cut off together with a process, and with a replica that confirms its orders. */
  async #split(): Promise<void> {
    const former = this.#primary;
    const [next, other] = this.#others();
    await this.#join(other);
    const [, ...moved] = this.#processes;
    await this.#useBeside(former, next, moved, this.#processes);
    former.isUp = this.#random.happens(0.5);
    await this.#join(other);
    for (const { state } of this.#processes) state.node = next;
  }

  /** The address leads to a former primary that nobody demoted. A process that saw its successor speaks first. */
  async #useFormerPrimary(): Promise<void> {
    const former = this.#primary;
    const [next, other] = this.#others();
    follow(other, next);
    const [witness, ...buyers] = this.#processes as [Process, ...Process[]];
    await this.#useBeside(former, next, this.#processes, buyers);
    if ((await witness.records.look()) !== null) return;
    this.#events.push(`${former.database} is used again`);
    this.#primary = former;
    for (const node of [next, other]) await this.#join(node);
    witness.state.node = former;
    await witness.records.look();
    // Those that placed the orders are dead, and the new ones know nothing of the successor.
    for (const each of buyers) await this.#replaceProcess(each);
  }

  /** A replica is promoted while its primary lives on. Some processes use it at once, and some place orders. */
  async #useBeside(
    former: Node,
    next: Node,
    moved: readonly Process[],
    buyers: readonly Process[],
  ): Promise<void> {
    this.#events.push(`${next.database} is promoted beside ${former.database}`);
    promote(next, this.#newId());
    this.#primary = next;
    for (const { state } of moved) state.node = next;
    for (let step = 0; step < STEPS_BESIDE; step += 1) {
      for (const { records } of moved) await records.look();
      const order = this.#random.happens(0.5) ? this.#newOrder() : this.#anyOrder(5);
      await this.#place(order, this.#random.pick(buyers));
      this.#nowMs += this.#random.below(1_500);
    }
  }

  /** The nodes that are not the primary; they are up. */
  #others(): [Node, Node] {
    const others = this.#nodes.filter((node) => node !== this.#primary);
    for (const node of others) {
      if (!node.isUp) node.run = this.#newId();
      node.isUp = true;
    }
    return shuffled(others, this.#random) as [Node, Node];
  }

  /** The gateway's clock was ahead, and the store is lost. Its end is decided by a process that did not judge keys by that clock. */
  async #setGatewayBack(): Promise<void> {
    this.#events.push('the clock of the gateway is set back');
    this.#gatewayMs = MINUTE_MS;
    const [young, ...others] = this.#processes as [Process, ...Process[]];
    for (const { state } of this.#processes)
      Object.assign(state, { node: this.#primary, isMeasured: true });
    for (const process of others) await this.#place(this.#newOrder(), process);
    this.#gatewayMs = 0;
    // If all that judged by that clock are dead, nobody knows of it.
    if (others.every(({ state }) => !state.isDead)) {
      await this.#copy(SNAPSHOT + 1, this.#primary.database);
      await this.#replaceProcess(young);
      for (const process of [...this.#processes, ...this.#processes]) await this.#look(process);
    }
    this.#nowMs += MINUTE_MS;
  }

  async #replaceProcess(process = this.#process()): Promise<void> {
    process.state.isDead = true;
    await process.records.close();
    this.#processes[this.#processes.indexOf(process)] = await this.#newProcess();
  }

  async #newProcess(): Promise<Process> {
    const state = { node: this.#primary, isMeasured: this.#random.happens(0.7), isDead: false };
    const aheadMs = this.#random.below(2 * MINUTE_MS) - MINUTE_MS;
    const errorMs = this.#random.below(500);
    const skewMs = () => this.#gatewayMs - aheadMs;
    const date = () => this.#nowMs + aheadMs;
    const connection = new NodeConnection(this, state);
    const records = new RedisOrderRecords(connection, connection, {
      redisUrl: '',
      prefix: 'trading-graph:',
      redisReplicas: 1,
      requiresAppendonly: true,
      max: 15,
      maxPerAccount: 6,
      clock: { ...systemClock, now: () => this.#nowMs, date, after: () => () => {} },
      dates: () =>
        state.isMeasured
          ? datesOf(date(), { ms: skewMs(), earlyMs: skewMs() - errorMs })
          : unmeasuredDates(date()),
      onWarn() {},
    });
    await records.look();
    return { records, connection, state, unsettled: [] };
  }

  #newNode(database: number): Node {
    const [run, replication] = [this.#newId(), this.#newId()];
    const aheadMs = this.#random.happens(0.5) ? 0 : this.#anyClock();
    const rest = { isUp: true, follows: null, isReplica: false, lists: 0 };
    return { database, run, replication, aheadMs, ...rest };
  }

  /** The time of a key is that of a client, whose clock may be ahead by as much as is accepted. */
  #newOrder(): Order {
    const madeMs = this.#nowMs + this.#gatewayMs + this.#random.below(4_000) - 1_500;
    const account = String(this.#random.below(3));
    const order = { account, key: newKeyAt(madeMs), sent: 0, isClosed: false };
    this.#orders.push(order);
    return order;
  }

  /** One of the latest orders; a new one if there is none. */
  #anyOrder(latest = STEPS): Order {
    return this.#random.pick([...this.#orders.slice(-latest), null]) ?? this.#newOrder();
  }

  #process(): Process {
    return this.#random.pick(this.#processes);
  }

  #followersOf(database: number): readonly Node[] {
    return this.#nodes.filter((node) => node.isUp && node.follows?.database === database);
  }

  /** The clock of Redis may be wrong by hours. */
  #anyClock(): number {
    return (this.#random.below(240) - 120) * MINUTE_MS;
  }

  #newId(): string {
    this.#ids += 1;
    return this.#ids.toString(16).padStart(40, '0');
  }

  async #copy(from: number, to: number): Promise<void> {
    await this.redis.eval(COPY, 0, from, to);
  }

  /** Waits until no command is under way, because releases run in the background. */
  async #quiet(): Promise<void> {
    do await new Promise(setImmediate);
    while (this.#processes.some(({ connection }) => connection.busy > 0));
  }

  #fail(problem: string): never {
    throw new Error(`${problem}\nafter:\n${this.#events.join('\n')}`);
  }
}

function follow(replica: Node, primary: Node): void {
  replica.follows = primary;
  replica.isReplica = true;
  replica.replication = primary.replication;
  replica.lists = 0;
}

function promote(replica: Node, replication: string): void {
  replica.follows = null;
  replica.isReplica = false;
  replica.replication = replication;
}

function shuffled<T>(all: readonly T[], random: ReturnType<typeof createSeededRandom>): T[] {
  return all
    .map((value) => ({ value, rank: random.next() }))
    .sort((one, other) => one.rank - other.rank)
    .map(({ value }) => value);
}
