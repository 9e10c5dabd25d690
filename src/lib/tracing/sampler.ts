import { type Context, createContextKey, TraceFlags, trace } from '@opentelemetry/api';
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  type Sampler,
  SamplingDecision,
  type SamplingResult,
  TraceIdRatioBasedSampler,
} from '@opentelemetry/sdk-trace';
import type { SamplerSettings } from './tracing.ts';

/** Set on the context of what is sampled whatever the ratio, and whatever a parent decided. */
export const ALWAYS_SAMPLED = createContextKey('always sampled');

const SAMPLED: SamplingResult = { decision: SamplingDecision.RECORD_AND_SAMPLED };
const NOT_SAMPLED: SamplingResult = { decision: SamplingDecision.NOT_RECORD };

/** The sampler that the settings name, with what is always sampled on top of a ratio. */
export class RequestSampler implements Sampler {
  readonly #isParentBased: boolean;
  readonly #samplesAlways: boolean;
  readonly #root: Sampler;

  constructor({ root, isParentBased, ratio }: SamplerSettings) {
    this.#isParentBased = isParentBased;
    this.#samplesAlways = root !== 'always_off';
    this.#root = {
      always_on: () => new AlwaysOnSampler(),
      always_off: () => new AlwaysOffSampler(),
      traceidratio: () => new TraceIdRatioBasedSampler(ratio),
    }[root]();
  }

  shouldSample(context: Context, traceId: string, ...rest: RestOfSampling): SamplingResult {
    const parent = trace.getSpanContext(context);
    // All spans of one request are sampled, or none.
    if (parent && !parent.isRemote) return decisionOf(parent.traceFlags);
    if (this.#samplesAlways && context.getValue(ALWAYS_SAMPLED) === true) return SAMPLED;
    if (parent && this.#isParentBased) return decisionOf(parent.traceFlags);
    return this.#root.shouldSample(context, traceId, ...rest);
  }

  toString(): string {
    return `RequestSampler{${this.#root.toString()}}`;
  }
}

type RestOfSampling =
  Parameters<Sampler['shouldSample']> extends [unknown, unknown, ...infer Rest] ? Rest : never;

function decisionOf(flags: number): SamplingResult {
  return (flags & TraceFlags.SAMPLED) === 0 ? NOT_SAMPLED : SAMPLED;
}
