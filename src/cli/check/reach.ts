import type { CheckRun } from './check-run.ts';
import type { Diagnosis } from './diagnose.ts';

const REACHED_BY = ['getOpenPositions', 'getCustomerId'] as const;

/**
 * Calls without a token: the gateway says 401, and whatever else may stand there says something else.
 * False where it is not the gateway, which then gets no password.
 */
export async function isReached(run: CheckRun): Promise<boolean> {
  const failures: Diagnosis[] = [];
  for (const operation of REACHED_BY) {
    const { diagnosis } = await run.call(operation, 'reach', { token: null });
    if (diagnosis.kind === 'refused') return true;
    if (diagnosis.kind === 'answered') {
      const text = 'It is answered without a token, where the interface asks for one.';
      run.find('problem', text, { operation });
      return true;
    }
    failures.push(diagnosis);
    if (diagnosis.kind === 'unreachable') break;
  }
  // Both fail alike, and one of them says why.
  const [first] = failures;
  if (first && 'finding' in first) run.findings.push(first.finding);
  return false;
}
