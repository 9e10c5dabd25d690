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

/** The data of the query SYMBOLS. */
interface CatalogData {
  readonly catalog: { readonly instruments: readonly { symbol: string; name: string }[] };
}

interface SubjectsOptions {
  /** The rows to measure; all if none is named. */
  readonly rows: readonly string[];
  /** Further processes of this project: each is a flag of Node, a setting as NAME=value, or a folder of another checkout. */
  readonly variants: readonly string[];
  /** Whether to start servers made of other libraries too. */
  readonly peers: boolean;
}

/** Starts all subjects, and checks that they answer the measured rows alike. */
export async function openSubjects({ rows, variants, peers }: SubjectsOptions) {
  await using opened = new AsyncDisposableStack();
  const gateway = opened.use(await startGateway(INSTRUMENTS, CLIENTS));
  const add = async (starting: Promise<Subject>) => {
    const subject = await starting;
    opened.use(subject.process);
    return subject;
  };
  const ours = await add(startOurs(gateway));
  // The answers of all subjects are compared with the answers of `model`, a further process of this project. `model` is not
  // measured: answering these requests changes how V8 compiles its code, and makes it slower.
  const model = await startOurs(gateway, 'model');
  await using _model = model.process;
  const { data } = await model.ask({ path: '', document: SYMBOLS, variables: {} });
  const { catalog } = data as CatalogData;
  const workloads = createWorkloads(catalog.instruments).filter(
    ({ name }) => rows.length === 0 || rows.includes(name),
  );
  // The wire comes first: the table divides the CPU of each other subject by that of the first.
  const subjects = [
    await add(startWire(gateway, model, workloads)),
    await add(startByHand(gateway)),
    ours,
  ];
  for (const variant of variants) {
    subjects.push(await add(startOurs(gateway, `ours, ${variant}`, variantOf(variant))));
  }
  if (peers) {
    for (const starting of startPeers(gateway)) subjects.push(await add(starting));
  }
  for (const workload of workloads) {
    for (const other of subjects) await compareAnswers(model, other, workload);
  }
  // From here on the caller ends what was started.
  const resources = opened.move();
  const dispose = () => resources.disposeAsync();
  return { gateway, workloads, subjects, ours, [Symbol.asyncDispose]: dispose };
}

function variantOf(text: string): Variant {
  if (text.startsWith('--')) return { nodeFlags: [text] };
  const [, setting, value] = /^([A-Z_]+)=(.*)$/.exec(text) ?? [];
  if (setting !== undefined) return { environment: { [setting]: value ?? '' } };
  return { script: resolve(text, 'src/main.ts') };
}
