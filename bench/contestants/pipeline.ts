/**
 * The operations of one checkout, in this process and without HTTP: `node pipeline.ts <checkout>`. One request over HTTP brings the
 * arguments with which its server opens an operation; the same ones are then opened again and again, as often as its parent asks.
 */
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { PipelineCase, PipelineSample } from '../support/pipeline-cases.ts';

/** What both ages of the project have in common. */
interface Opened {
  readonly errors?: readonly unknown[];
  readonly ready?: boolean;
  execute(): unknown;
  text?(result: unknown): unknown;
}

interface Opening {
  open(): Opened | Promise<Opened>;
  /** The result as its transport would send it. */
  text(opened: Opened, result: unknown): unknown;
}

const checkout = process.argv[2] ?? '.';
const load = (file: string) => import(pathToFileURL(join(checkout, 'src', file)).href);

const { readConfig } = await load('config.ts');
const { startApp } = await load('app.ts');
const openings = new Map<string, Opening>();
let latest: Opening | null = null;
await watchGraph().catch(watchEngine);

const app = await startApp(
  readConfig({
    // Nobody is there, and nothing that is sent here needs anybody.
    GATEWAY_URL: 'http://127.0.0.1:9',
    PORT: '0',
    ADMIN_PORT: '0',
    ORDER_STORE: 'memory',
    LOG_LEVEL: 'fatal',
    RATE_LIMIT_PER_MINUTE: '1000000000',
    COST_LIMIT_PER_MINUTE: '1000000000',
  }),
);

process.on('message', (sample: PipelineSample) => {
  measure(sample).then(
    (us) => process.send?.(us),
    (error: unknown) => {
      throw error;
    },
  );
});
process.on('disconnect', () => process.exit());
process.send?.('ready');

/** The microseconds of CPU that one operation takes. */
async function measure({ operation, times }: PipelineSample): Promise<number> {
  const { open, text } = openings.get(operation.name) ?? (await capture(operation));
  const before = process.cpuUsage();
  for (let time = 0; time < times; time += 1) {
    const opening = open();
    const opened = opening instanceof Promise ? await opening : opening;
    if (opened.errors !== undefined) {
      JSON.stringify({ errors: opened.errors });
      continue;
    }
    const result = opened.execute();
    const written = text(opened, result instanceof Promise ? await result : result);
    if (written instanceof Promise) await written;
  }
  const { user, system } = process.cpuUsage(before);
  return (user + system) / times;
}

async function capture({ name, params }: PipelineCase): Promise<Opening> {
  const headers = { 'content-type': 'application/json' };
  const body = JSON.stringify(params);
  await (await fetch(`${app.url}/graphql`, { method: 'POST', headers, body })).text();
  if (latest === null) throw new Error('the server opened no operation');
  openings.set(name, latest);
  return latest;
}

async function watchGraph(): Promise<void> {
  const { Graph } = await load('graph.ts');
  const { jsonText } = await load('plugins/results/json-text.ts');
  const { context: createContext } = Graph.prototype;
  Graph.prototype.context = function context(...given: unknown[]) {
    const create = () => createContext.apply(this, given);
    latest = {
      open: () => this.open(create()),
      text: (opened, result) =>
        jsonText(result, (opened as unknown as { operation: { meter: unknown } }).operation.meter),
    };
    return create();
  };
}

/** The state before there was a list of plugins. */
async function watchEngine(): Promise<void> {
  const { Engine } = await load('engine/engine.ts');
  const { open: openOperation } = Engine.prototype;
  Engine.prototype.open = function open(...given: unknown[]) {
    const again = () => openOperation.apply(this, given);
    latest = { open: again, text: (opened, result) => opened.text?.(result) };
    return again();
  };
}
