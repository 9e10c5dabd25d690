import { resolve } from 'node:path';
import { compareAnswers } from './compare.ts';
import type { Contestant } from './contestant.ts';
import { CATALOG } from './documents.ts';
import { type Gateway, startGateway } from './gateway.ts';
import {
  type Surroundings,
  startByHand,
  startOurs,
  startWire,
  type Variant,
} from './start-contestants.ts';
import { ROWS_OF_PEERS, startPeers } from './start-peers.ts';
import { createWorkloads, type Workload } from './workloads.ts';

export interface Field extends AsyncDisposable {
  readonly gateway: Gateway;
  readonly surroundings: Surroundings;
  readonly workloads: readonly Workload[];
  /** The wire first: it is the baseline of the others. */
  readonly contestants: readonly Contestant[];
  readonly ours: Contestant;
  /** Ours first, then what runs beside it. */
  readonly variants: readonly Variant[];
}

const INSTRUMENTS = 5_000;
const CLIENTS = 16;

export interface Guests {
  /** More of this project's processes: flags of Node, settings as NAME=value, or folders of other checkouts. */
  readonly besides: readonly string[];
  /** Servers made of other libraries; then only with the rows that they are set up for. */
  readonly peers: boolean;
}

/** All contestants started and warm, and checked to answer alike. */
export async function openField({ besides, peers }: Guests): Promise<Field> {
  await using opened = new AsyncDisposableStack();
  const gateway = opened.use(await startGateway(INSTRUMENTS, CLIENTS));
  const surroundings = {
    gatewayUrl: gateway.url,
    instruments: INSTRUMENTS,
    tokens: gateway.tokens,
  };
  const join = async (starting: Promise<Contestant>) => {
    const contestant = await starting;
    opened.use(contestant.process);
    return contestant;
  };
  const ours = await join(startOurs(surroundings));
  // Whatever a process has answered before decides how V8 compiles it: one whose answers each contestant's are compared
  // with is in a slower state than the others, and is not measured.
  const model = await startOurs(surroundings, { name: 'model' });
  await using _compared = model.process;
  const workloads = createWorkloads(await instrumentsOf(model)).filter(
    ({ name }) => !peers || ROWS_OF_PEERS.includes(name),
  );
  const contestants = [
    await join(startWire(surroundings, model, workloads)),
    await join(startByHand(surroundings)),
    ours,
  ];
  const others = besides.map(variantOf);
  for (const other of others) contestants.push(await join(startOurs(surroundings, other)));
  if (peers) {
    for (const starting of startPeers(surroundings)) contestants.push(await join(starting));
  }
  for (const workload of workloads) {
    for (const other of contestants) await compareAnswers(model, other, workload);
  }
  const resources = opened.move();
  return {
    gateway,
    surroundings,
    workloads,
    contestants,
    ours,
    variants: [{ name: ours.name }, ...others],
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}

function variantOf(beside: string): Variant {
  const name = `ours, ${beside}`;
  if (beside.startsWith('--')) return { name, nodeFlags: [beside] };
  const [, setting, value] = /^([A-Z_]+)=(.*)$/.exec(beside) ?? [];
  if (setting !== undefined) return { name, environment: { [setting]: value ?? '' } };
  return { name, folder: resolve(beside) };
}

async function instrumentsOf(ours: Contestant) {
  const { data } = await ours.ask({ path: '/catalog', document: CATALOG, variables: {} });
  const { catalog } = data as { catalog: { instruments: { symbol: string; name: string }[] } };
  return catalog.instruments;
}
