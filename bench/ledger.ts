/**
 * What each stage of `{ customerId }` costs: one facade on one core, in which one stage after the other is left out.
 * `npm run bench -- ledger [--rounds 40] [--quick] [--only <part of a stage's name>]` prints Markdown.
 */
import { cpus } from 'node:os';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { CLIENTS } from './support/client-headers.ts';
import { pinOwnProcess } from './support/cores.ts';
import { startGateway } from './support/gateway.ts';
import { STAGES } from './support/ledger-stages.ts';
import { table } from './support/markdown.ts';
import { sample } from './support/measure.ts';
import { startOurs, startWire } from './support/start-contestants.ts';
import { quantile } from './support/statistics.ts';
import { createWorkloads, type Workload } from './support/workloads.ts';

const { values } = parseArgs({
  options: {
    rounds: { type: 'string' },
    only: { type: 'string', default: '' },
    quick: { type: 'boolean', default: false },
  },
});
const rounds = Number(values.rounds ?? (values.quick ? 2 : 40));
const sampleMs = values.quick ? 50 : 100;
const warmSamples = values.quick ? 5 : 100;
const SWITCHES = fileURLToPath(new URL('contestants/ledger-switches.ts', import.meta.url));
const CLIENT_COUNT = 16;

pinOwnProcess();
await using gateway = await startGateway(100, CLIENT_COUNT);
const ours = await startOurs(gateway, { name: 'ours', nodeFlags: ['--import', SWITCHES] });
await using _ours = ours.process;
const workload = createWorkloads([]).find(({ name }) => name === 'customer-id') as Workload;
const wire = await startWire(gateway, ours, [workload]);
await using _wire = wire.process;
await gateway.setMarket(workload.market);

const stages = STAGES.filter(({ name }) => name.includes(values.only));
const leaveOut = (stage: string | null) => ours.process.exchange({ leaveOut: stage });
/** Microseconds of CPU for one request. */
const measured = async (contestant = ours, accept?: string) =>
  (await sample(contestant, workload, sampleMs, accept)).cpu;

for (let at = 0; at < warmSamples; at += 1) {
  for (const { accept } of CLIENTS) await measured(ours, accept);
  await measured(wire);
}
const wireUs: number[] = [];
const wholeUs: number[] = [];
const byClient = CLIENTS.map(() => [] as number[]);
const samples = stages.map(({ name }) => ({
  name,
  whole: [] as number[],
  without: [] as number[],
}));
for (let round = 0; round < rounds; round += 1) {
  wireUs.push(await measured(wire));
  for (const [at, { accept }] of CLIENTS.entries())
    byClient[at]?.push(await measured(ours, accept));
  for (const { name, whole, without } of samples) {
    whole.push(await measured());
    await leaveOut(name);
    without.push(await measured());
    if ((await leaveOut(null)) === 0) throw new Error(`no request has the stage: ${name}`);
    wholeUs.push(...whole.slice(-1));
  }
}

// What else runs on the machine only ever adds: the quietest samples say most.
const least = (us: readonly number[]) => quantile(us, 0.1);
const rows: [string, number][] = [
  ['the wire', least(wireUs)],
  ...CLIENTS.map(({ name }, at): [string, number] => [
    `all of it, headers of ${name}`,
    least(byClient[at] ?? []),
  ]),
  ['all of it, `application/json`, most samples', least(wholeUs)],
  ...samples.map(({ name, whole, without }): [string, number] => [
    name,
    least(whole) - least(without),
  ]),
];
const machine = `${cpus()[0]?.model}, Node ${process.version}; the least tenth of ${rounds} samples of ${sampleMs} ms`;
const cells = rows.map(([name, us]) => [name, us.toFixed(1)]);
process.stdout.write(`${machine}\n\n${table(['`{ customerId }`', 'µs of CPU'], cells)}\n`);
