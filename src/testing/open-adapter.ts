import { fileURLToPath } from 'node:url';
import { toToken } from '../../lib/token.ts';
import { readAdapter } from '../app/resources.ts';
import { readConfig } from '../config.ts';
import { createCallAdapter } from '../gateway/adapter.ts';
import { ANSWER_SHAPES } from '../gateway/interface/answer-shapes.ts';
import { compare } from '../gateway/interface/compare.ts';
import { isOperation, OPERATIONS, type OperationName } from '../gateway/operations.ts';
import { requestTemplates } from '../gateway/request-templates.ts';
import type { OpenAdapter } from './test-graph.ts';

/** A value for each parameter, by which a test recognises where it went. */
const PARAMETERS = { login: '700001', group: 'standard-usd', key: 'a-key', provider: 'a-provider' };
const TOKEN = 'a-token';

export const openAdapter: OpenAdapter = async (file) => {
  const path = file instanceof URL ? fileURLToPath(file) : file;
  const loaded = await readAdapter({ gatewayAdapter: path });
  if (loaded === null) throw new Error('an adapter is a file');
  const adapter = createCallAdapter(loaded);
  const templates = requestTemplates(OPERATIONS, readConfig({}));
  const callOf = (operation: string, body?: unknown) => {
    if (!isOperation(operation)) throw new Error(`no operation ${operation}`);
    return templates[operation]({ token: toToken(TOKEN) }, { path: PARAMETERS, body });
  };
  return {
    request(operation, body) {
      const sent = adapter.request(callOf(operation, body));
      const headers: Record<string, string> = {};
      for (let at = 0; at < sent.headers.length; at += 2) {
        headers[sent.headers[at] ?? ''] = sent.headers[at + 1] ?? '';
      }
      return { path: sent.path, headers, body: sent.body === null ? null : JSON.parse(sent.body) };
    },
    answer(operation, recorded, status = 200) {
      const text = typeof recorded === 'string' ? recorded : JSON.stringify(recorded);
      const exchange = adapter.answer(callOf(operation), {
        sent: true,
        answered: true,
        status,
        headers: {},
        bytes: Buffer.from(text),
        logicalTime: 0,
        sentAtMs: 0,
      });
      if (!exchange.sent || !exchange.answered) throw exchange.cause;
      const body = JSON.parse(exchange.bytes.toString('utf8'));
      const isRead = exchange.status < 300;
      return { status: exchange.status, body, lost: isRead ? lostIn(operation, body) : [] };
    },
  };
};

function lostIn(operation: string, body: unknown): string[] {
  const { fields } = compare(ANSWER_SHAPES[operation as OperationName], body, Date.now());
  return fields.filter(({ loss }) => loss !== 'nothing').map(({ path }) => path);
}
