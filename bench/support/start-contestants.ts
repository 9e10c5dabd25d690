import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePort } from '../../test/support/free-ports.ts';
import type { PreparedAnswers } from '../contestants/wire.ts';
import { accepting } from './accepting.ts';
import { Contestant, type ContestantOptions } from './contestant.ts';
import { CONTESTANT_CORE } from './cores.ts';
import { ProbedProcess } from './probed-process.ts';
import type { Workload } from './workloads.ts';

export interface Surroundings {
  readonly gatewayUrl: string;
  readonly instruments: number;
  readonly tokens: readonly string[];
}

interface Entry
  extends Pick<ContestantOptions, 'name' | 'speaks' | 'replaysRecording' | 'endpoint'> {
  readonly script: string;
  readonly environment?: Readonly<Record<string, string>>;
  readonly nodeFlags?: readonly string[];
}

/** The difference between a further one of this project's processes and the first. */
export interface Variant {
  readonly name: string;
  /** Another checkout of the project. */
  readonly folder?: string;
  readonly nodeFlags?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
}

/** This project as it runs in production, with limits that a load test does not reach. */
export async function startOurs(
  surroundings: Surroundings,
  variant: Variant = { name: 'ours' },
): Promise<Contestant> {
  const { name, folder = pathOf('../..'), nodeFlags, environment } = variant;
  return start(surroundings, {
    name,
    speaks: 'graphql',
    script: join(folder, 'src/main.ts'),
    ...(nodeFlags && { nodeFlags }),
    environment: {
      NODE_ENV: 'production',
      ADMIN_PORT: '0',
      ORDER_STORE: 'memory',
      RATE_LIMIT_PER_MINUTE: '1000000000',
      COST_LIMIT_PER_MINUTE: '1000000000000',
      MAX_COST: '10000000',
      ...environment,
    },
  });
}

export function startByHand(surroundings: Surroundings): Promise<Contestant> {
  const script = pathOf('../contestants/by-hand/main.ts');
  return start(surroundings, { name: 'by hand', speaks: 'paths', script });
}

/** The wire replays the answers of `model`. */
export async function startWire(
  surroundings: Surroundings,
  model: Contestant,
  workloads: readonly Workload[],
): Promise<Contestant> {
  const folder = await mkdtemp(join(tmpdir(), 'bench-'));
  try {
    const file = join(folder, 'answers.json');
    await writeFile(file, JSON.stringify(await answersOf(model, workloads)));
    const script = pathOf('../contestants/wire.ts');
    return await start(surroundings, {
      name: 'wire',
      speaks: 'paths',
      replaysRecording: true,
      script,
      environment: { ANSWERS: file },
    });
  } finally {
    await rm(folder, { recursive: true });
  }
}

async function answersOf(model: Contestant, workloads: readonly Workload[]) {
  const answers: Record<string, PreparedAnswers[string]> = {};
  for (const { samples, encoding, calls, title } of workloads) {
    const [question] = samples;
    if (!question) throw new Error(`${title}: nothing is asked`);
    const bodies: string[] = [];
    for (const sample of samples) {
      bodies.push((await model.ask(sample, encoding)).bytes.toString('base64'));
    }
    answers[`${question.path} ${encoding}`] = { calls, bodies };
  }
  return answers;
}

export async function start(
  { gatewayUrl, tokens }: Surroundings,
  { script, environment, nodeFlags = [], ...entry }: Entry,
): Promise<Contestant> {
  const port = await freePort();
  const child = new ProbedProcess({
    script,
    core: CONTESTANT_CORE,
    nodeFlags,
    environment: { GATEWAY_URL: gatewayUrl, PORT: String(port), ...environment },
  });
  await accepting(child, port);
  return new Contestant({ ...entry, port, process: child, tokens });
}

function pathOf(relative: string): string {
  return fileURLToPath(new URL(relative, import.meta.url));
}
