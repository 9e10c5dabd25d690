import { GatewayError } from '../../src/gateway/errors.ts';

/** The outcome of a call in one word: an error's kind, an outcome, or `answer`. */
export async function wordFor(call: Promise<unknown>): Promise<string> {
  try {
    const result = await call;
    if (typeof result !== 'object' || result === null) return 'answer';
    if ('outcome' in result) return String(result.outcome);
    if ('kind' in result) return String(result.kind);
    return 'details' in result ? 'rejected' : 'answer';
  } catch (error) {
    if (error instanceof GatewayError) return error.kind;
    throw error;
  }
}
