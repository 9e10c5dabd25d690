// Prints the stops of a catalog on Hermes as JSON. What runs it puts `GIVEN` before it. The program has neither clock nor
// timers of React Native: they are made here first, because the client looks for them when it is loaded.
import type { Instrument } from '../../../client/src/generated/rows.ts';
import { catalogStops } from './catalog-stops.ts';
import { HermesTurns } from './hermes-turns.ts';

declare const GIVEN: { readonly rows: readonly Instrument[]; readonly rounds: number };
declare function print(line: string): void;

const turns = new HermesTurns();
void catalogStops(turns, GIVEN.rows, GIVEN.rounds)
  .then(
    (stops) => print(JSON.stringify(stops)),
    (error) => print(`${error}\n${error.stack}`),
  )
  .then(() => turns.end());
