// Prints the stops of a catalog on Node as JSON: `on-node.mjs <file with the instruments> <rounds>`.
import { readFileSync } from 'node:fs';
import { setTimeout as delay, setImmediate as turn } from 'node:timers/promises';
import { HoldWatch } from '../hold-watch.ts';
import { catalogStops } from './catalog-stops.ts';

const SETTLED_MS = 2_000;
const [file = '', rounds] = process.argv.slice(2);

const stops = await catalogStops(
  {
    turn: (value) => turn(value),
    async longestStop(task) {
      const holds = new HoldWatch();
      await task().then(() => delay(SETTLED_MS));
      return holds.end();
    },
    nowMs: () => performance.now(),
  },
  JSON.parse(readFileSync(file, 'utf8')),
  Number(rounds),
);
console.log(JSON.stringify(stops));
