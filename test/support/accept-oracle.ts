/**
 * What an `Accept` header asks for by RFC 9110, written from its text alone: the grammar as one expression,
 * and quality as a fraction in thousandths. Shares no code with the server.
 */

/** The representations that the server has, in the order in which it prefers them where all else is equal. */
const REPRESENTATIONS = [
  { type: 'application/json', parameters: { charset: 'utf-8' } },
  { type: 'application/graphql-response+json', parameters: { charset: 'utf-8' } },
  { type: 'text/event-stream', parameters: { charset: 'utf-8' } },
] as const;

export type Representation = (typeof REPRESENTATIONS)[number]['type'];

export interface Expectation {
  /** Null for 406. */
  readonly single: Representation | null;
  readonly takesEvents: boolean;
}

interface Weighed {
  readonly thousandths: number;
  readonly precedence: number;
  readonly position: number;
}

const TOKEN = "[!#$%&'*+.^_`|~0-9A-Za-z-]+";
const QUOTED = '"(?:[^"\\\\]|\\\\.)*"';
const PARAMETER = `[ \\t]*;[ \\t]*(?:(${TOKEN})=(${TOKEN}|${QUOTED}))?`;

export function expectedFor(accept: string | undefined): Expectation {
  const list = (accept ?? '').match(new RegExp(`(?:${QUOTED}|[^,"])+`, 'g')) ?? [];
  const members = list.map((member) => member.trim()).filter((member) => member !== '');
  if (members.length === 0) members.push('*/*');
  const [plain, response, events] = REPRESENTATIONS.map(({ type, parameters }) =>
    weigh(members, type, parameters.charset),
  ) as [Weighed, Weighed, Weighed];
  const json = [plain, response].sort(byPreference)[0] as Weighed;
  const takesEvents = events.thousandths > 0;
  if (events.thousandths > json.thousandths) return { single: 'text/event-stream', takesEvents };
  if (json.thousandths === 0) return { single: null, takesEvents };
  const single = json === plain ? 'application/json' : 'application/graphql-response+json';
  return { single, takesEvents };
}

/** A higher quality first, then a type that is named rather than covered, then the one that stands first. */
function byPreference(one: Weighed, other: Weighed): number {
  const isNamed = ({ precedence }: Weighed) => Number(precedence >= 3);
  return (
    other.thousandths - one.thousandths ||
    isNamed(other) - isNamed(one) ||
    one.position - other.position
  );
}

/** “The most specific reference has precedence.” Parameters that JSON does not have say nothing. */
function weigh(members: readonly string[], type: string, charset: string): Weighed {
  const covering = members.flatMap((member, position): Weighed[] => {
    const [range = ''] = member.split(/[ \t]*;/, 1);
    const level = levelOf(range.toLowerCase(), type);
    if (level === 0) return [];
    let thousandths = 1_000;
    let precedence = level;
    for (const [, name, value = ''] of member
      .slice(range.length)
      .matchAll(new RegExp(PARAMETER, 'g'))) {
      const plainValue = value.startsWith('"')
        ? value.slice(1, -1).replaceAll(/\\(.)/g, '$1')
        : value;
      if (name?.toLowerCase() === 'q') thousandths = Math.round(Number(plainValue) * 1_000);
      if (name?.toLowerCase() !== 'charset') continue;
      if (plainValue.toLowerCase() !== charset) return [];
      precedence += 0.5;
    }
    return [{ thousandths, precedence, position }];
  });
  covering.sort(
    (a, b) =>
      b.precedence - a.precedence || b.thousandths - a.thousandths || a.position - b.position,
  );
  return covering[0] ?? { thousandths: 0, precedence: 0, position: 0 };
}

function levelOf(range: string, type: string): 0 | 1 | 2 | 3 {
  if (range === type) return 3;
  if (range === `${type.split('/')[0]}/*`) return 2;
  return range === '*/*' ? 1 : 0;
}
