import type { Config } from '../config.ts';
import type { ReadOperation } from '../gateway/define-operation.ts';
import { type DescribedOperation, firstCallOf } from '../gateway/operation-traits.ts';
import { OPERATIONS, type ReadName } from '../gateway/operations.ts';
import { isAsDescribed } from './comparison.ts';
import { comparisonFindings } from './comparison-findings.ts';
import type { Credentials } from './credentials.ts';
import { faultOf } from './fault.ts';
import { comparisonsOf, type Probe, type Probed } from './probe.ts';
import type { CallReport, CheckedName, Finding } from './report.ts';

export interface CheckRunOptions {
  readonly probe: Probe;
  readonly config: Config;
  readonly nowMs: () => number;
  /** Called after each operation, in order. */
  readonly onEnd: (call: CallReport) => void;
}

export type CheckedRead<Input, Result> = ReadOperation<Input, Result> & { readonly name: ReadName };
export type Ended<Result> = Probed<Result> & { readonly status: number | null };
type About = Pick<Finding, 'setting' | 'operation'>;

/** One run of the check. It executes operations, compares their answers with the interface, and collects the findings. */
export class CheckRun {
  readonly config: Config;
  readonly findings: Finding[] = [];
  readonly #options: CheckRunOptions;

  constructor(options: CheckRunOptions) {
    this.#options = options;
    this.config = options.config;
  }

  nowMs(): number {
    return this.#options.nowMs();
  }

  async read<Input, Result>(
    operation: CheckedRead<Input, Result>,
    token: string | null,
    input: Input,
    remark = '',
  ): Promise<Ended<Result>> {
    return this.#end(operation, await this.#options.probe.read(operation, input, token), remark);
  }

  /** Signs in, with the one write that the check makes. */
  async signIn(credentials: Extract<Credentials, { kind: 'password' }>) {
    const { login } = OPERATIONS;
    return this.#end(login, await this.#options.probe.write(login, credentials), '');
  }

  /** Returns the result of an operation that has to succeed. If it has failed, adds a finding that says why. */
  resultOf<Result>(operation: CheckedName, ended: Ended<Result>): Result | null {
    if (ended.result === null) {
      const { text, setting } = faultOf(ended);
      this.find('problem', text, { operation, setting });
    }
    return ended.result;
  }

  /** Compares the answers of an operation that has ended, and reports its call. */
  #end<Result>(
    operation: DescribedOperation & { readonly name: CheckedName },
    probed: Probed<Result>,
    remark: string,
  ): Ended<Result> {
    const { probe, config, onEnd } = this.#options;
    const last = probed.recorded.at(-1);
    const exchange = last?.exchange;
    const status = exchange?.sent && exchange.answered ? exchange.status : null;
    const { method, path } = last?.call.description ?? firstCallOf(operation);
    // A call with a remark is expected to fail.
    const comparisons =
      remark === '' ? comparisonsOf(operation, probed, config.gatewayTimeUnit) : [];
    for (const comparison of comparisons) {
      for (const { level, text, setting } of comparisonFindings(comparison)) {
        this.find(level, text, { operation: operation.name, setting });
      }
    }
    const seen = comparisons.flatMap(({ fields }) => fields).filter((field) => field.seen.size > 0);
    const fields = { fitting: seen.filter(isAsDescribed).length, seen: seen.length };
    const call: CallReport = {
      operation: operation.name,
      remark,
      sent: `${method} ${probe.prefix}${path}`,
      status,
      ms: Math.round(probed.ms),
      fields: comparisons.length === 0 ? null : fields,
    };
    onEnd(call);
    return { ...probed, status };
  }

  find(level: Finding['level'], text: string, about: About = {}): void {
    this.findings.push({ level, text, setting: about.setting, operation: about.operation });
  }
}
