/** Measures this project beside what else could stand in its place, and prints the tables. */
import { parseArgs } from 'node:util';
import { compareAnswers } from './support/compare.ts';
import { pinOwnProcess } from './support/cores.ts';
import { CATALOG } from './support/documents.ts';
import { startGateway } from './support/gateway.ts';
import { table } from './support/markdown.ts';
import { measure } from './support/measure.ts';
import { startByHand, startOurs, startWire } from './support/start-contestants.ts';
import { createWorkloads } from './support/workloads.ts';

const INSTRUMENTS = 5_000;
const TOKENS = 16;

pinOwnProcess();
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    quick: { type: 'boolean', default: false },
    'node-flag': { type: 'string', multiple: true },
  },
});
const pace = values.quick
  ? { warmMs: 400, sampleMs: 250, rounds: 3 }
  : { warmMs: 1_200, sampleMs: 500, rounds: 5 };
await using gateway = await startGateway(INSTRUMENTS, TOKENS);
const surroundings = {
  gatewayUrl: gateway.url,
  tokens: gateway.tokens,
  nodeFlags: values['node-flag'] ?? [],
};
const ours = await startOurs(surroundings);
const { data } = await ours.ask({ path: '', document: CATALOG, variables: {} });
const workloads = createWorkloads(
  (data as { catalog: { instruments: { symbol: string; name: string }[] } }).catalog.instruments,
);
const byHand = await startByHand(surroundings);
const wire = await startWire(surroundings, ours, workloads);
for (const workload of workloads) {
  for (const other of [wire, byHand]) await compareAnswers(ours, other, workload);
}
const rows = [];
for (const workload of workloads) {
  if (positionals.length > 0 && !positionals.includes(workload.name)) continue;
  const figures = await measure(gateway, [wire, byHand, ours], workload, pace);
  rows.push([
    workload.title,
    ...[wire, byHand, ours].map((each) => {
      const { cpu, ratio, perSecond } = figures.get(each) ?? { cpu: 0, ratio: 0, perSecond: 0 };
      return `${ratio.toFixed(2)} (${cpu.toFixed(0)} µs, ${perSecond.toFixed(0)}/s)`;
    }),
    String(workload.target),
  ]);
  console.error(rows.at(-1)?.join(' | '));
}
console.log(table(['Work', 'wire', 'by hand', 'ours', 'target'], rows));
for (const each of [ours, byHand, wire]) await each.process[Symbol.asyncDispose]();
