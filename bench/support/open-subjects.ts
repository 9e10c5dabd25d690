import { resolve } from 'node:path';
import { compareAnswers } from './compare.ts';
import { startGateway } from './gateway.ts';
import { startPeers } from './start-peers.ts';
import { startByHand, startOurs, startWire, type Variant } from './start-subjects.ts';
import type { Subject } from './subject.ts';
import { createWorkloads } from './workloads.ts';

export type Subjects = Awaited<ReturnType<typeof openSubjects>>;

const INSTRUMENTS = 5_000;
const CLIENTS = 16;
const SYMBOLS = '{ catalog { instruments { symbol name } } }';

export interface Guests {
  /** The rows to measure; all if none is named. */
  readonly rows: readonly string[];
  /** More processes of this project: flags of Node, settings as NAME=value, or folders of other checkouts. */
  readonly besides: readonly string[];
  /** Servers made of other libraries. */
  readonly peers: boolean;
}

/** Starts all subjects, and checks that they answer the measured rows alike. */
export async function openSubjects({ rows, besides, peers }: Guests) {
  await using opened = new AsyncDisposableStack();
  const gateway = opened.use(await startGateway(INSTRUMENTS, CLIENTS));
  const join = async (starting: Promise<Subject>) => {
    const subject = await starting;
    opened.use(subject.process);
    return subject;
  };
  const ours = await join(startOurs(gateway));
  // The answers of all subjects are compared with those of this process. It is not measured, because these answers change how
  // V8 compiles it, and make it slower.
  const model = await startOurs(gateway, 'model');
  await using _compared = model.process;
  const { data } = await model.ask({ path: '', document: SYMBOLS, variables: {} });
  const workloads = createWorkloads(Object(data).catalog.instruments).filter(
    ({ name }) => rows.length === 0 || rows.includes(name),
  );
  // The wire comes first, because it is the baseline of the others.
  const subjects = [
    await join(startWire(gateway, model, workloads)),
    await join(startByHand(gateway)),
    ours,
  ];
  for (const beside of besides) {
    subjects.push(await join(startOurs(gateway, `ours, ${beside}`, variantOf(beside))));
  }
  if (peers) {
    for (const starting of startPeers(gateway)) subjects.push(await join(starting));
  }
  for (const workload of workloads) {
    for (const other of subjects) await compareAnswers(model, other, workload);
  }
  const resources = opened.move();
  const dispose = () => resources.disposeAsync();
  return { gateway, workloads, subjects, ours, [Symbol.asyncDispose]: dispose };
}

function variantOf(beside: string): Variant {
  if (beside.startsWith('--')) return { nodeFlags: [beside] };
  const [, setting, value] = /^([A-Z_]+)=(.*)$/.exec(beside) ?? [];
  if (setting !== undefined) return { environment: { [setting]: value ?? '' } };
  return { script: resolve(beside, 'src/main.ts') };
}
