import type { Config } from '../../config.ts';
import { UnsafePathError } from '../../gateway/errors.ts';
import type { Answer } from '../../gateway/exchange.ts';
import { isRow } from '../../gateway/wire/scalars.ts';
import { type Comparison, compare } from './compare.ts';
import { comparisonFindings } from './comparison-findings.ts';
import { type Diagnosis, diagnose, statusOf } from './diagnose.ts';
import type { Finding, SuggestedSettings } from './finding.ts';
import type { Probe, ProbeAnswer, ProbeCall, ProbeName } from './probe.ts';
import { answerOf } from './probe.ts';
import { ALL_AT_ONCE, pagingIn, remediesFor } from './remedies.ts';

export type Purpose =
  | 'reach'
  | 'sign in'
  | 'read'
  | 'read again'
  | 'find the login'
  | 'revalidate'
  | 'forged token';

/** A call that has ended, for the report: no value of its answer is in it. */
export interface CallReport {
  readonly operation: ProbeName;
  readonly purpose: Purpose;
  readonly status: number | null;
  readonly ms: number;
  /** Null for what is not compared with the interface. */
  readonly comparison: Comparison | null;
  readonly instruments: number | null;
}

export interface CheckRunOptions {
  readonly probe: Probe;
  readonly config: Config;
  readonly nowMs: () => number;
  /** The fields, by path or last name, that this gateway may lack. */
  readonly allowed: ReadonlySet<string>;
  /** Called before each call. */
  readonly onStart: (operation: ProbeName, purpose: Purpose) => void;
  /** Called after each call, in order. */
  readonly onEnd: (call: CallReport) => void;
}

export interface Called {
  readonly diagnosis: Diagnosis;
  readonly status: number | null;
  /** Undefined where the body is no JSON. */
  readonly json: unknown;
}

const COMPARED: ReadonlySet<Purpose> = new Set(['sign in', 'read', 'find the login']);
/** A call that needs more than this share of its limit is likely to exceed it on a bad day. */
export const NEAR_LIMIT = 0.5;
// The leeway of a token's expiry: beyond it a clock that is wrong locks users out.
const CLOCK_LEEWAY_MS = 30_000;

/** One run of the check: makes its calls, and keeps what they have shown. */
export class CheckRun {
  readonly config: Config;
  readonly calls: CallReport[] = [];
  readonly findings: Finding[] = [];
  readonly settings: SuggestedSettings = {};
  readonly #options: CheckRunOptions;
  #isClockJudged = false;

  constructor(options: CheckRunOptions) {
    this.#options = options;
    this.config = options.config;
  }

  nowMs(): number {
    return this.#options.nowMs();
  }

  find(
    level: Finding['level'],
    text: string,
    about: Pick<Finding, 'setting' | 'operation'> = {},
  ): void {
    this.findings.push({ level, text, ...about });
  }

  async call(operation: ProbeName, purpose: Purpose, call: ProbeCall): Promise<Called> {
    this.#options.onStart(operation, purpose);
    const probed = await this.#options.probe.call(operation, call).catch(notWritten);
    const diagnosis = diagnose(operation, probed);
    const json = diagnosis.kind === 'answered' ? diagnosis.json : bodyOf(probed);
    const status = statusOf(probed.exchange);
    const isCompared =
      diagnosis.kind === 'answered' &&
      COMPARED.has(purpose) &&
      // A sign-in may be refused with a 200, which is another body of the interface.
      !(operation === 'login' && isRow(json) && typeof json.error === 'string');
    const comparison = isCompared ? compare(answerOf(operation), json, this.nowMs()) : null;
    if (comparison) this.#judgeShape(operation, comparison, json);
    if (diagnosis.kind === 'answered') {
      this.#judgeTime(operation, probed);
      this.#judgeClock(diagnosis.answer);
      const sign = isCompared ? pagingIn(answerOf(operation), json, diagnosis.answer) : null;
      if (sign !== null) {
        const text = `It is one page of several (${sign}), and others are never asked for: ${ALL_AT_ONCE}.`;
        this.find('problem', text, { operation });
      }
    }
    const report: CallReport = {
      operation,
      purpose,
      status,
      ms: Math.round(probed.ms),
      comparison,
      instruments: operation === 'getAllTickers' && Array.isArray(json) ? json.length : null,
    };
    this.calls.push(report);
    this.#options.onEnd(report);
    return { diagnosis, status, json };
  }

  #judgeShape(operation: ProbeName, comparison: Comparison, json: unknown): void {
    const { allowed } = this.#options;
    this.findings.push(...comparisonFindings(operation, comparison, allowed));
    for (const text of remediesFor(answerOf(operation), json, comparison)) {
      this.find('note', text, { operation });
    }
  }

  /** A call with the token, which has to be answered: finds why it is not, else returns the answer. */
  answerOf(operation: ProbeName, { diagnosis }: Called): Answer | null {
    if (diagnosis.kind === 'answered') return diagnosis.answer;
    if (diagnosis.kind !== 'refused') {
      this.findings.push(diagnosis.finding);
      return null;
    }
    const why =
      diagnosis.status === 401
        ? 'the token is refused. Is it of this gateway, and still valid, or is the path another?'
        : 'this account, or the address of this machine, is not allowed to.';
    const text = `Status ${diagnosis.status}: ${why} Does something in front want a header of its own (GATEWAY_HEADERS)?`;
    this.find('problem', text, { operation, setting: 'CHECK_TOKEN' });
    return null;
  }

  /** A cached answer keeps the date at which it was made. */
  #judgeClock({ headers }: Answer): void {
    const aheadMs = Date.parse(headers.date ?? '') - this.nowMs();
    if (this.#isClockJudged || headers.age !== undefined || !(Math.abs(aheadMs) > CLOCK_LEEWAY_MS))
      return;
    this.#isClockJudged = true;
    const seconds = Math.round(Math.abs(aheadMs) / 1_000);
    const side = aheadMs > 0 ? 'ahead of' : 'behind';
    this.find(
      'warning',
      `The gateway's clock is ${seconds} s ${side} this machine's: is this machine's right?`,
    );
  }

  #judgeTime(operation: ProbeName, { ms, deadlineMs }: ProbeAnswer): void {
    if (ms <= deadlineMs * NEAR_LIMIT) return;
    this.find('warning', 'It took more than half of its deadline.', {
      operation,
      setting: 'GATEWAY_TIMEOUT_MS',
    });
  }
}

/** A login or a group that no path can hold is never sent, by the service neither. */
function notWritten(cause: unknown): ProbeAnswer {
  if (!(cause instanceof UnsafePathError)) throw cause;
  return { exchange: { sent: false, cause }, ms: 0, deadlineMs: 0 };
}

/** The body of an answer that is no 2xx, where it is JSON. */
function bodyOf({ exchange }: ProbeAnswer): unknown {
  if (!exchange.sent || !exchange.answered) return undefined;
  try {
    return JSON.parse(exchange.bytes.toString('utf8'));
  } catch {
    return undefined;
  }
}
