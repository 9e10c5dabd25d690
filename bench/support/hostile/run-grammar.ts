import { table } from '../markdown.ts';
import { startHostileFacade } from './hostile-facade.ts';
import { startHostileGateway } from './hostile-gateway.ts';
import { largestOf, PLAIN, SHAPES, type Shape, tokensOf } from './largest-documents.ts';
import { type HostileOptions, UNPACED } from './run-hostile.ts';
import { type Trial, TrialGround, type Write } from './trial-ground.ts';

export interface GrammarOptions extends Pick<HostileOptions, 'holdings' | 'settings'> {
  readonly leastTries: number;
}

export interface GrammarRow {
  readonly name: string;
  readonly tokens: number;
  readonly bytes: number;
  /** The quickest of the tries. */
  readonly trial: Trial;
}

// A suffix that makes the text another one each time fits in beside the largest document.
const ROOM = { maxTokens: 4_000, maxBytes: 262_000 };

/** Measures the largest document of each thing in the grammar that can be counted, which take the same for their size. */
export async function runGrammar({
  holdings,
  settings,
  leastTries,
}: GrammarOptions): Promise<{ readonly rows: readonly GrammarRow[]; readonly text: string }> {
  await using gateway = await startHostileGateway(holdings);
  await using ground = new TrialGround(gateway.hostile, () =>
    startHostileFacade(gateway, { ...settings, ...UNPACED }),
  );
  const rows: GrammarRow[] = [];
  for (const shape of [PLAIN, ...SHAPES]) rows.push(await tryShape(ground, shape, leastTries));
  return { rows, text: grammarTable(rows) };
}

async function tryShape(ground: TrialGround, shape: Shape, times: number): Promise<GrammarRow> {
  const { text } = largestOf(shape, ROOM);
  const write: Write = () => {
    written += 1;
    return { text: `${text}#${written}`, variables: {} };
  };
  let best: Trial | null = null;
  for (let tried = 0; tried < times; tried += 1) {
    const trial = await ground.try('query', write);
    if (best === null || trial.cpuMs < best.cpuMs) best = trial;
  }
  if (best === null) throw new Error('nothing was tried');
  const tokens = tokensOf(text, ROOM.maxTokens);
  return { name: shape.name, tokens, bytes: Buffer.byteLength(text), trial: best };
}

let written = 0;

function grammarTable(rows: readonly GrammarRow[]): string {
  return table(
    ['largest document of', 'tokens', 'bytes', 'CPU, ms', 'longest loop hold, ms', 'answer'],
    rows.map(({ name, tokens, bytes, trial: { cpuMs, holdMs, codes, verdict } }) => [
      name,
      String(tokens),
      String(bytes),
      cpuMs.toFixed(1),
      holdMs.toFixed(1),
      codes.join(', ') || verdict,
    ]),
  );
}
