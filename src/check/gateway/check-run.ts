import type { Config } from '../../config.ts';
import { jsonOf } from '../../gateway/answer-body.ts';
import { isSuccess } from '../../gateway/classify.ts';
import type { ReadOperation } from '../../gateway/define-operation.ts';
import type { Answer } from '../../gateway/exchange.ts';
import {
  type CallDescription,
  type DescribedOperation,
  firstCallOf,
  isSignIn,
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
  /** Whether the operation made a call. */
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

  addFinding(
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
    return this.#judge(operation, purpose, probed);
  }

  async signIn(email: string, password: string) {
    const { login } = OPERATIONS;
    const probed = await this.#options.probe.write(login, { email, password });
    return this.#judge(login, 'sign in', probed);
  }

  /** Returns the result of an operation that has to succeed. If it has failed, adds a finding that says why. */
  resultOf<Result>(operation: CheckedName, { result, fault }: Called<Result>): Result | null {
    if (fault !== null) this.addFinding('problem', fault.text, { ...fault, operation });
    return result;
  }

  /** Judges the answers of an operation that has ended, and reports its call. */
  #judge<Result>(
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
    for (const comparison of comparisons) this.#judgeFields(name, comparison);
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

  /** The method, the path and the query of the last call. The path has `{names}` in place of values. */
  #sent(operation: DescribedOperation, last: Recorded | undefined): string {
    const { method, path } = last?.call.description ?? firstCallOf(operation);
    const [, query] = last?.call.path.split('?') ?? [];
    const search = query ? `?${query}` : '';
    return `${method} ${this.#options.probe.prefix}${path}${search}`;
  }

  #judgeFields(operation: CheckedName, comparison: Comparison): void {
    for (const found of comparisonFindings(comparison)) this.findings.push({ ...found, operation });
    const { gatewayTimeUnit } = this.config;
    if (!isWrongUnit(comparison.times, gatewayTimeUnit, this.nowMs())) return;
    this.settings.GATEWAY_TIME_UNIT = 'auto';
    const text = `Times are not all in ${gatewayTimeUnit}; auto reads seconds and milliseconds.`;
    this.addFinding('problem', text, { operation, setting: 'GATEWAY_TIME_UNIT' });
  }

  /** Warns once if the clocks differ. Cached answers do not count, because they keep their original date. */
  #judgeClock({ headers }: Answer): void {
    if (this.#isClockJudged || headers.age !== undefined) return;
    const aheadMs = Date.parse(headers.date ?? '') - this.nowMs();
    // False for an answer without a date, because then the difference is NaN.
    const isOff = Math.abs(aheadMs) > CLOCK_LEEWAY_MS;
    if (!isOff) return;
    this.#isClockJudged = true;
    const seconds = Math.round(Math.abs(aheadMs) / 1_000);
    const side = aheadMs > 0 ? 'ahead of' : 'behind';
    const text = `The gateway's clock is ${seconds} s ${side} this machine's. Is this machine's clock right?`;
    this.addFinding('warning', text);
  }
}

/** One comparison for each call of the operation. The pages of one list are compared together. */
function comparisonsOf(operation: DescribedOperation, recorded: readonly Recorded[]): Comparison[] {
  return Object.values(operation.calls).flatMap((call) => {
    const answers = recorded.flatMap((each) => answersTo(call, each));
    return answers.length === 0 ? [] : [compare(call.answer, answers)];
  });
}

/** The JSON of a recorded call, if it is a call of this kind with a 2xx. A sign-in that a 200 refuses does not count. */
function answersTo(called: CallDescription, { call, exchange }: Recorded): unknown[] {
  const isOfCall = call.description === called;
  if (!isOfCall || !exchange.sent || !exchange.answered) return [];
  const json = isSuccess(exchange.status) ? jsonOf(exchange) : undefined;
  if (json === undefined) return [];
  const isRefusedSignIn = isSignIn(call.operation) && isObjectWithError(json);
  return isRefusedSignIn ? [] : [json];
}

function isObjectWithError(json: unknown): boolean {
  return typeof json === 'object' && json !== null && 'error' in json;
}

function fieldsIn(comparisons: readonly Comparison[]): NonNullable<CallReport['fields']> {
  const all = comparisons.flatMap(({ fields }) => fields);
  const seen = all.filter((field) => Object.keys(field.seen).length > 0);
  return { fitting: seen.filter(isAsDescribed).length, seen: seen.length };
}

/** Whether each value has the expected type. An optional field may also be missing or null. */
function isAsDescribed({ seen, expected, missing }: SeenField): boolean {
  const others = Object.keys(seen).filter((type) => type !== expected);
  const areAllAbsent = others.every((type) => type === MISSING || type === NULL);
  return others.length === 0 || (missing === 'nothing' && areAllAbsent);
}
