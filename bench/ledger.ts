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
import { median, quantile } from './support/statistics.ts';
import { createWorkloads, type Workload } from './support/workloads.ts';

const { values } = parseArgs({
  options: {
    rounds: { type: 'string' },
    only: { type: 'string', default: '' },
    quick: { type: 'boolean', default: false },
  },
});
const rounds = Number(values.rounds ?? (values.quick ? 2 : 40));
const sampleMs = values.quick ? 50 : 200;
const warmSamples = values.quick ? 5 : 60;
const SWITCHES = fileURLToPath(new URL('contestants/ledger-switches.ts', import.meta.url));
const CLIENT_COUNT = 16;

pinOwnProcess();
await using gateway = await startGateway(100, CLIENT_COUNT);
const surroundings = { gatewayUrl: gateway.url, instruments: 100, tokens: gateway.tokens };
const ours = await startOurs(surroundings, { name: 'ours', nodeFlags: ['--import', SWITCHES] });
await using _ours = ours.process;
const workload = createWorkloads([]).find(({ name }) => name === 'customer-id') as Workload;
const wire = await startWire(surroundings, ours, [workload]);
await using _wire = wire.process;
await gateway.order({ market: workload.market });

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
const byClient = CLIENTS.map(() => [] as number[]);
const wholeUs: number[] = [];
const saved = new Map(stages.map(({ name }) => [name, [] as number[]]));
for (let round = 0; round < rounds; round += 1) {
  wireUs.push(await measured(wire));
  for (const [at, { accept }] of CLIENTS.entries())
    byClient[at]?.push(await measured(ours, accept));
  for (const { name } of stages) {
    // With all stages before and after, so that a machine that gets slower counts for neither.
    const before = await measured();
    await leaveOut(name);
    const without = await measured();
    if ((await leaveOut(null)) === 0) throw new Error(`no request has the stage: ${name}`);
    const after = await measured();
    wholeUs.push(before, after);
    saved.get(name)?.push((before + after) / 2 - without);
  }
}

const whole = median(wholeUs);
const rows = [
  ['the wire', micros(median(wireUs)), ''],
  ...CLIENTS.map(({ name }, at) => [
    `all of it, headers of ${name}`,
    micros(median(byClient[at] ?? [])),
    '',
  ]),
  ...[...saved].map(([name, us]) => [
    name,
    micros(median(us)),
    `${micros(quantile(us, 0.25))} to ${micros(quantile(us, 0.75))}`,
  ]),
  ['all of it, whose stages are left out', micros(whole), ''],
];
const machine = `${cpus()[0]?.model}, Node ${process.version}; ${rounds} rounds of ${sampleMs} ms`;
process.stdout.write(
  `${machine}\n\n${table(['`{ customerId }`', 'µs of CPU', 'half of the rounds'], rows)}\n`,
);

function micros(us: number): string {
  return us.toFixed(1);
}
