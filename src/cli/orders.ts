import { parseArgs } from 'node:util';
import { ConfigError, readConfig } from '../config.ts';
import { machineClock } from '../lib/machine-clock.ts';
import { SqliteFileError } from '../lib/sqlite-errors.ts';
import { OrderDatabase } from '../store/order-database.ts';
import { type Command, EXIT_FAILED, EXIT_OK, EXIT_USAGE, type Terminal } from './dispatch.ts';

/** Reports whether the file of the order records is complete, and lets the operator correct that. */
export const ordersCommand: Command = {
  usage: [
    'Usage: trading-graph orders <status | complete | incomplete> [--file <path>]',
    '',
    '  status      says how many order records there are, and what is wrong with them',
    '  complete    takes orders again: what is missing or damaged may be sent a second time;',
    '              drops damaged records; restart the service afterwards',
    '  incomplete  refuses unknown keys for 24 hours: for a file that was restored with its disk,',
    '              which nothing else shows',
    '',
    '  --file  the file; ORDER_STORE when left out',
  ].join('\n'),
  async run(args, terminal) {
    const asked = readArgs(args);
    if (typeof asked === 'string') {
      terminal.err(asked);
      return EXIT_USAGE;
    }
    try {
      return act(asked, terminal);
    } catch (problem) {
      if (problem instanceof ConfigError) {
        for (const line of problem.problems) terminal.err(line);
      } else if (problem instanceof SqliteFileError) {
        terminal.err(`The file ${problem.message}.`);
      } else throw problem;
      return EXIT_FAILED;
    }
  },
};

const WORDS = ['status', 'complete', 'incomplete'] as const;

interface Asked {
  readonly word: (typeof WORDS)[number];
  readonly file: string | undefined;
}

function readArgs(args: readonly string[]): Asked | string {
  try {
    const options = { file: { type: 'string' } } as const;
    const { values, positionals } = parseArgs({
      args: [...args],
      options,
      allowPositionals: true,
    });
    const word = WORDS.find((each) => each === positionals[0]);
    if (word === undefined || positionals.length > 1) return `Say one of ${WORDS.join(', ')}.`;
    return { word, file: values.file };
  } catch (problem) {
    return problem instanceof Error ? problem.message : String(problem);
  }
}

function act({ word, file }: Asked, terminal: Terminal): number {
  const { environment } = terminal;
  const config = readConfig(
    file === undefined ? environment : { ...environment, ORDER_STORE: file },
  );
  const path = config.orderStore;
  if (path === 'memory') {
    terminal.err('The order records are in memory: name a file by --file or ORDER_STORE.');
    return EXIT_FAILED;
  }
  const max = config.orderRecordsMax;
  using opened = new DisposableStack();
  const database = opened.adopt(
    new OrderDatabase({ path, max, clock: machineClock, onWarn: terminal.err, mustExist: true }),
    (each) => each.close(),
  );
  if (word === 'complete') database.declareComplete();
  if (word === 'incomplete') database.declareIncomplete();
  const { held, degradedReason } = database.run([]);
  terminal.out(`${path}: ${held} order records; ${degradedReason ?? 'orders are taken'}`);
  return EXIT_OK;
}
