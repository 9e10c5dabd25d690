import type { Config } from '../../config.ts';
import { jsonOf } from '../../gateway/answer-body.ts';
import type { ReadOperation } from '../../gateway/define-operation.ts';
import type { Answer } from '../../gateway/exchange.ts';
import {
  type CallDescription,
  type DescribedOperation,
  firstCallOf,
} from '../../gateway/operation.ts';
import { OPERATIONS, type ReadName } from '../../gateway/operations.ts';
import { type Comparison, compare, MISSING, NULL, type SeenField } from './compare.ts';
import { comparisonFindings, isWrongUnit } from './comparison-findings.ts';
import { diagnose, type Fault } from './diagnose.ts';
import type { CheckedName, Finding, SuggestedSettings } from './finding.ts';
import type { Probe, Probed, Recorded } from './probe.ts';

export type Purpose =
  | 'without a token'
  | 'sign in'
  | 'read'
  | 'again'
  | 'with another claim'
  | 'with If-None-Match'
  | 'with a broken signature';

/** One operation of the check, for the report. It contains no value of the answer. */
export interface CallReport {
  readonly operation: CheckedName;
  readonly purpose: Purpose;
  /** The method and the path that were sent, with `{names}` in place of values. */
  readonly sent: string;
  readonly status: number | null;
  readonly ms: number;
  /** How many fields the answer has, and how many of them are as described. */
  readonly fields: { readonly fitting: number; readonly seen: number } | null;
}

export interface CheckRunOptions {
  readonly probe: Probe;
  readonly config: Config;
  readonly nowMs: () => number;
  /** Called after each operation, in order. */
  readonly onEnd: (call: CallReport) => void;
}

export interface Called<Result> {
  /** Whether it made a call. */
  readonly isSent: boolean;
  /** Null if the operation failed. */
  readonly result: Result | null;
  readonly fault: Fault | null;
  readonly status: number | null;
  /** The JSON of the last answer, with any status; undefined if it is not JSON. */
  readonly json: unknown;
}

const COMPARED: ReadonlySet<Purpose> = new Set(['sign in', 'read', 'with another claim']);
// The service allows for this difference when a token expires. A clock that is further ahead locks users out.
const CLOCK_LEEWAY_MS = 30_000;

/** One run of the check. It executes operations, and collects the findings. */
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

  async read<Input, Result>(
    operation: ReadOperation<Input, Result> & { readonly name: ReadName },
    purpose: Purpose,
    token: string | null,
    input: Input,
  ): Promise<Called<Result>> {
    const probed = await this.#options.probe.read(operation, input, token);
    return this.#ended(operation, purpose, probed);
  }

  async signIn(email: string, password: string) {
    const { login } = OPERATIONS;
    const probed = await this.#options.probe.write(login, { email, password });
    return this.#ended(login, 'sign in', probed);
  }

  /** Returns the result of an operation that has to succeed; reports why it has failed. */
  resultOf<Result>(operation: CheckedName, { result, fault }: Called<Result>): Result | null {
    if (fault !== null) this.find('problem', fault.text, { ...fault, operation });
    return result;
  }

  #ended<Result>(
    operation: DescribedOperation & { readonly name: CheckedName },
    purpose: Purpose,
    { recorded, result, error, ms }: Probed<Result>,
  ): Called<Result> {
    const { name } = operation;
    const last = recorded.at(-1);
    const exchange = last?.exchange;
    const answer = exchange?.sent && exchange.answered ? exchange : null;
    const sent = this.#sent(operation, last);
    const comparisons = COMPARED.has(purpose) ? comparisonsOf(operation, recorded) : [];
    for (const comparison of comparisons) this.#judge(name, comparison);
    if (answer !== null && result !== null) this.#judgeClock(answer);
    const report: CallReport = {
      operation: name,
      purpose,
      sent,
      status: answer?.status ?? null,
      ms: Math.round(ms),
      fields: comparisons.length === 0 ? null : fieldsIn(comparisons),
    };
    this.calls.push(report);
    this.#options.onEnd(report);
    return {
      isSent: last !== undefined,
      result,
      fault: error === null ? null : diagnose(last, error, sent),
      status: report.status,
      json: answer === null ? undefined : jsonOf(answer),
    };
  }

  #sent(operation: DescribedOperation, last: Recorded | undefined): string {
    const { method, path } = last?.call.description ?? firstCallOf(operation);
    const [, query] = last?.call.path.split('?') ?? [];
    return `${method} ${this.#options.probe.prefix}${path}${query ? `?${query}` : ''}`;
  }

  #judge(operation: CheckedName, comparison: Comparison): void {
    for (const found of comparisonFindings(comparison)) this.findings.push({ ...found, operation });
    const { gatewayTimeUnit } = this.config;
    if (!isWrongUnit(comparison.times, gatewayTimeUnit, this.nowMs())) return;
    this.settings.GATEWAY_TIME_UNIT = 'auto';
    const text = `Times are not all in ${gatewayTimeUnit}; auto reads seconds, milliseconds and microseconds.`;
    this.find('problem', text, { operation, setting: 'GATEWAY_TIME_UNIT' });
  }

  /** Compares the clocks once. Cached answers do not count, because they keep their original date. */
  #judgeClock({ headers }: Answer): void {
    const aheadMs = Date.parse(headers.date ?? '') - this.nowMs();
    if (this.#isClockJudged || headers.age !== undefined || !(Math.abs(aheadMs) > CLOCK_LEEWAY_MS))
      return;
    this.#isClockJudged = true;
    const seconds = Math.round(Math.abs(aheadMs) / 1_000);
    const side = aheadMs > 0 ? 'ahead of' : 'behind';
    const text = `The gateway's clock is ${seconds} s ${side} this machine's. Is this machine's clock right?`;
    this.find('warning', text);
  }
}

/** One comparison for each call of the operation. The pages of one list are compared together. */
function comparisonsOf(operation: DescribedOperation, recorded: readonly Recorded[]): Comparison[] {
  return Object.values(operation.calls).flatMap((call) => {
    const answers = recorded.flatMap((each) => answersTo(call, each));
    return answers.length === 0 ? [] : [compare(call.answer, answers)];
  });
}

/** The JSON of a 2xx; nothing for a sign-in that a 200 refuses. */
function answersTo(called: CallDescription, { call, exchange }: Recorded): unknown[] {
  const isOfCall = call.description === called;
  if (!isOfCall || !exchange.sent || !exchange.answered) return [];
  const { status } = exchange;
  const json = status >= 200 && status <= 299 ? jsonOf(exchange) : undefined;
  const isRefusal =
    call.operation.errors === 'sign-in' &&
    typeof json === 'object' &&
    json !== null &&
    'error' in json;
  return json === undefined || isRefusal ? [] : [json];
}

function fieldsIn(comparisons: readonly Comparison[]): NonNullable<CallReport['fields']> {
  const all = comparisons.flatMap(({ fields }) => fields);
  const seen = all.filter((field) => Object.keys(field.seen).length > 0);
  const fits = ({ seen: types, expected, missing }: SeenField) => {
    const others = Object.keys(types).filter((type) => type !== expected);
    return others.every((type) => missing === 'nothing' && (type === MISSING || type === NULL));
  };
  const fitting = seen.filter(fits);
  return { fitting: fitting.length, seen: seen.length };
}
