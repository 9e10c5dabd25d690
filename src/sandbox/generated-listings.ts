import type { Listing } from './listings.ts';
import { createRandom, pick, type Random } from './random.ts';

const NAME_STARTS = `
  Alder Amber Arbor Aster Birch Bright Cedar Cinder Clear Cobalt Copper Coral Crown Delta
  Eagle Ember Falcon Fern Flint Granite Harbor Hazel Heron Indigo Iron Juniper Keystone
  Lark Linden Maple Meridian North Oak Onyx Pacific Pine Quartz Raven River Sable Silver
  Slate Sterling Summit Thorn Umber Vale Vertex Willow Zephyr
`
  .trim()
  .split(/\s+/);
const NAME_ENDS = `
  bridge brook crest dale field ford gate grove haven hill lake mark mere mont moor point
  port ridge shire side stone vale view ward water well wick wood worth yard
`
  .trim()
  .split(/\s+/);
const FORMS = ['Inc.', 'Corporation', 'Group plc', 'Holdings Ltd', 'SE', 'N.V.', 'Company', 'S.A.'];
const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ';
const SUFFIXES = ['.A', '.B', '.L', '.DE', '.PA', '.SW'];
const SHARIA = ['COMPLIANT', 'COMPLIANT', 'QUESTIONABLE', 'NONCOMPLIANT'] as const;

// Global sector numbers, each with three lines of business for the names of made-up companies.
const SECTORS: readonly (readonly [number, readonly string[]])[] = [
  [10, ['Energy', 'Petroleum', 'Pipelines']],
  [15, ['Materials', 'Mining', 'Chemicals']],
  [20, ['Industries', 'Logistics', 'Aerospace']],
  [25, ['Retail', 'Motors', 'Hotels']],
  [30, ['Foods', 'Beverages', 'Household']],
  [35, ['Pharma', 'Biosciences', 'Medical']],
  [40, ['Bancorp', 'Insurance', 'Capital']],
  [45, ['Software', 'Robotics', 'Semiconductors']],
  [50, ['Media', 'Telecom', 'Games']],
  [55, ['Power', 'Water', 'Utilities']],
  [60, ['Properties', 'Realty', 'Estates']],
];

/** Generates made-up companies with unique symbols. The same seed gives the same companies. Adds the symbols to `taken`. */
export function generateListings(seed: string, count: number, taken: Set<string>): Listing[] {
  const random = createRandom(`${seed}/listings`);
  const listings: Listing[] = [];
  while (listings.length < count) {
    const symbol = makeSymbol(random);
    if (taken.has(symbol)) continue;
    taken.add(symbol);
    listings.push(makeListing(random, symbol));
  }
  return listings;
}

function makeListing(random: Random, symbol: string): Listing {
  const [sector, lines] = pick(random, SECTORS);
  const line = Math.floor(random() * lines.length);
  const name = `${pick(random, NAME_STARTS)}${pick(random, NAME_ENDS)}`;
  return {
    kind: 'equity',
    symbol,
    name: `${name} ${lines[line]} ${pick(random, FORMS)}`,
    // From 5 to 600; low prices are as frequent as high ones on a logarithmic scale.
    price: Math.round(500 * 120 ** random()) / 100,
    sharia: pick(random, SHARIA),
    sector,
    // Six digits, of which the first two are the sector, as in global industry codes.
    industry: sector * 10_000 + 1_010 + line * 10,
  };
}

function makeSymbol(random: Random): string {
  const length = symbolLength(random);
  let symbol = '';
  for (let i = 0; i < length; i += 1) symbol += LETTERS[Math.floor(random() * LETTERS.length)];
  return random() < 0.12 ? symbol + pick(random, SUFFIXES) : symbol;
}

function symbolLength(random: Random): number {
  if (random() < 0.25) return 3;
  return random() < 0.6 ? 4 : 5;
}
