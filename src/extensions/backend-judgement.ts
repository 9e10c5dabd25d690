import type { GraphQLError } from 'graphql';
import { steadyClock, within } from '../../lib/clock.ts';
import { attribute, runInExtension } from '../../lib/extension-code.ts';
import { jsonOf, refusalOf } from '../gateway/answer-body.ts';
import type { BackendSettings } from '../gateway/backend-client.ts';
import { isSuccess, isTooLong } from '../gateway/classify.ts';
import { DeadlineError, GatewayError } from '../gateway/errors.ts';
import type { Answer, Exchange } from '../gateway/exchange.ts';
import { answerOf, contractError, judgeRead } from '../gateway/judge.ts';
import { refusalWords } from '../gateway/wire/bodies.ts';
import { type Code, ERROR_CODES } from '../schema/error-codes.ts';
import { DeclaredError, JudgeError } from './declared-error.ts';
import { readableError } from './field-deadline.ts';
import type { BackendAnswer, BackendOptions, Paths, Writes } from './kit.ts';

type Judge = NonNullable<BackendOptions<Paths, Writes>['judge']>;

/** Judges a backend's answers by the extension's own `judge`, or by status and body. */
export function createJudgement(
  extension: string,
  { name: backend, forwardToken, timeoutMs }: BackendSettings,
  given?: Judge,
  declared: Readonly<Record<string, unknown>> = {},
) {
  const judge =
    given && ((answer: BackendAnswer) => runInExtension(extension, async () => given(answer)));

  /** A user who signed in anew would get a 401 for our own credentials again. */
  function refuseOwnCredentials(name: string, exchange: Exchange): void {
    if (forwardToken || !exchange.sent || !exchange.answered) return;
    const { status } = exchange;
    if (status === 401 || status === 403) {
      throw contractError(name, `status ${status} for our own credentials`);
    }
  }

  /** Whether what a judge has thrown says that a write was not done: an error with a code that clients know, of a 4xx. */
  function isRefusal(status: number, error: Error): boolean {
    if (error instanceof DeclaredError) return true;
    // The file may have another copy of GraphQL's library.
    const { extensions, originalError } = error as Partial<GraphQLError>;
    const isCoded = error.name === 'GraphQLError' && originalError === undefined;
    if (!isCoded || status < 400 || status === 408) return false;
    const code = String(extensions?.code);
    if (Object.hasOwn(declared, code)) return true;
    return Object.hasOwn(ERROR_CODES, code) && ERROR_CODES[code as Code].outcome !== 'fault';
  }

  return {
    async read(name: string, exchange: Exchange): Promise<unknown> {
      if (exchange.sent && exchange.answered && isTooLong(exchange)) {
        throw refusal(`This is longer than ${backend} takes.`);
      }
      if (judge && isForJudge(exchange)) {
        // The status of a 4xx tells a read enough.
        if (exchange.status < 400 && isUnreadable(exchange)) throw contractError(name, NO_JSON);
        return judge(shownOf(name, exchange));
      }
      refuseOwnCredentials(name, exchange);
      const body = jsonOf(judgeRead(name, exchange));
      if (body === undefined) throw contractError(name, NO_JSON);
      return body;
    },
    /** A write in doubt has an unknown outcome, and is never sent again. */
    async write(name: string, exchange: Exchange): Promise<unknown> {
      const isJudged = judge !== undefined && isForJudge(exchange);
      if (!isJudged) refuseOwnCredentials(name, exchange);
      const answer = isJudged ? exchange : answerOf(name, exchange, 'unknown');
      const { status } = answer;
      const unknown = (message: string) => new GatewayError('unknown', name, message, { status });
      if (isUnreadable(answer)) throw unknown(NO_JSON);
      if (isJudged) {
        const judging = async () => ({ verdict: await judge(shownOf(name, answer)) });
        const failed = (error: Error) => new JudgeError(name, status, attribute(error, extension));
        const judged = await within(steadyClock, timeoutMs, judging()).catch((thrown) => {
          const error = readableError(thrown);
          throw isRefusal(status, error) ? error : failed(error);
        });
        if (judged === null) throw failed(new DeadlineError(timeoutMs));
        return judged.verdict;
      }
      if (isSuccess(status)) return jsonOf(answer) ?? null;
      if (status < 400 || status >= 500 || status === 408) throw unknown(`status ${status}`);
      const words = refusalWords(refusalOf(answer))?.message;
      throw refusal(words ?? `${backend} refuses this.`);
    },
  };
}

const NO_JSON = 'no JSON';

/** The error of a refused input. It names no argument: the backend knows none of them. */
function refusal(message: string): DeclaredError {
  return new DeclaredError('BAD_USER_INPUT', ERROR_CODES.BAD_USER_INPUT.retryable, message);
}

function isForJudge(exchange: Exchange): exchange is Answer {
  return exchange.sent && exchange.answered && exchange.status < 500 && exchange.status !== 429;
}

/** A page of a proxy, say, which tells nothing. */
function isUnreadable(answer: Answer): boolean {
  return answer.bytes.length > 0 && jsonOf(answer) === undefined;
}

function shownOf(name: string, answer: Answer) {
  const operation = name.slice(name.indexOf('.') + 1);
  return { operation, status: answer.status, body: jsonOf(answer) };
}
