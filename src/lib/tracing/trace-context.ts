/** The place of a caller in its trace, as `traceparent` and `tracestate` state it (W3C Trace Context). */
export interface TraceContext {
  readonly traceId: string;
  readonly parentId: string;
  readonly isSampled: boolean;
  /** The trace id was drawn at random, which samplers further on may rely on. */
  readonly hasRandomId: boolean;
  /** Null where there is none that can be read. */
  readonly state: string | null;
}

/** Headers by the lower-case names that Node gives them, with `traceparent`, `tracestate` and `baggage`. */
export type TraceHeaders = Readonly<NodeJS.Dict<string | string[]>>;

const SAMPLED = 1;
const RANDOM = 2;

const TRACEPARENT = /^([\da-f]{2})-([\da-f]{32})-([\da-f]{16})-([\da-f]{2})(-.*)?$/;
const ZEROS = /^0+$/;
// A later version may append fields; what is longer than this is no version's.
const LONGEST_TRACEPARENT = 512;

// The least that everybody has to send on; a longer one is dropped whole.
const LONGEST_TRACESTATE = 512;
const MOST_STATE_MEMBERS = 32;
// An empty member is allowed: it is what joining two headers may leave.
const STATE_MEMBER = /^(?:[a-z\d][a-z\d_\-*/@]{0,255}=[ -+\--<>-~]{0,255}[!-+\--<>-~])?$/;

const LONGEST_BAGGAGE = 1_024;
const TOKEN = "[!#$%&'*+.^_`|~\\dA-Za-z-]+";
const VALUE = '[!#-+\\--:<-\\[\\]-~]*';
const BAGGAGE_MEMBER = new RegExp(
  `^${TOKEN}[ \\t]*=[ \\t]*${VALUE}(?:[ \\t]*;[ \\t]*${TOKEN}(?:[ \\t]*=[ \\t]*${VALUE})?)*$`,
);

/** Null where `traceparent` breaks its grammar: the trace then begins anew. */
export function readTraceContext({ traceparent, tracestate }: TraceHeaders): TraceContext | null {
  if (typeof traceparent !== 'string' || traceparent.length > LONGEST_TRACEPARENT) return null;
  const [, version, traceId = '', parentId = '', flags = '', more] =
    TRACEPARENT.exec(traceparent) ?? [];
  if (version === undefined || version === 'ff') return null;
  if (version === '00' && more !== undefined) return null;
  if (ZEROS.test(traceId) || ZEROS.test(parentId)) return null;
  const bits = Number.parseInt(flags, 16);
  return {
    traceId,
    parentId,
    isSampled: (bits & SAMPLED) !== 0,
    hasRandomId: (bits & RANDOM) !== 0,
    state: readTraceState(tracestate),
  };
}

/** In the one version that is known here, without flags of later ones. */
export function traceparentOf({
  traceId,
  parentId,
  isSampled,
  hasRandomId,
}: Omit<TraceContext, 'state'>): string {
  const flags = (isSampled ? SAMPLED : 0) | (hasRandomId ? RANDOM : 0);
  return `00-${traceId}-${parentId}-0${flags}`;
}

/** Null where there is no `baggage`, or one that is too long or breaks its grammar. */
export function readBaggage({ baggage }: TraceHeaders): string | null {
  if (typeof baggage !== 'string' || baggage.length > LONGEST_BAGGAGE) return null;
  return baggage.split(',').every((member) => BAGGAGE_MEMBER.test(trimmed(member)))
    ? baggage
    : null;
}

function readTraceState(header: string | string[] | undefined): string | null {
  const text = Array.isArray(header) ? header.join(',') : header;
  if (text === undefined || text.length > LONGEST_TRACESTATE) return null;
  const members = text.split(',').map(trimmed);
  if (members.length > MOST_STATE_MEMBERS) return null;
  if (!members.every((member) => STATE_MEMBER.test(member))) return null;
  const filled = members.filter((member) => member !== '');
  const keys = new Set(filled.map((member) => member.slice(0, member.indexOf('='))));
  return filled.length > 0 && keys.size === filled.length ? filled.join(',') : null;
}

/** Without the optional whitespace of HTTP, which is narrower than what `trim` removes. */
function trimmed(member: string): string {
  return member.replace(/^[ \t]+|[ \t]+$/g, '');
}
