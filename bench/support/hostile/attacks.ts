import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { GATEWAY_CORE } from '../cores.ts';
import { ProbedProcess } from '../probed-process.ts';
import { ASSAULTS, ReplyTally } from './assaults.ts';
import type { Account } from './hostile-client.ts';
import { KNOWN_DOCUMENTS, type KnownDocument } from './known-documents.ts';
import { KNOWN_SENDERS } from './known-senders.ts';

export interface Attack {
  readonly name: string;
  /** Goes on for so long; answers with what came of it. */
  begin(account: Account, ms: number): Promise<string>;
}

export const NOBODY: Attack = {
  name: 'nobody',
  begin: (_account, ms) => delay(ms, 'none'),
};

export function documentAttacks(): Attack[] {
  return KNOWN_DOCUMENTS.map((document) => ({
    name: document.name,
    async begin(account, ms) {
      const signal = AbortSignal.timeout(ms);
      const replies = new ReplyTally();
      const write = writerOf(document);
      await ASSAULTS[document.kind]({ account, write, signal, replies });
      return String(replies);
    },
  }));
}

export function senderAttacks(): Attack[] {
  return Object.entries(KNOWN_SENDERS).map(([name, { processes = 1 }]) => ({
    name,
    async begin({ port }, ms) {
      const script = fileURLToPath(new URL('sender-process.ts', import.meta.url));
      await using stack = new AsyncDisposableStack();
      const children = Array.from({ length: processes }, () =>
        stack.use(new ProbedProcess({ script, core: GATEWAY_CORE })),
      );
      await Promise.all(children.map((child) => child.exchange({ name, port })));
      await delay(ms);
      const ended = children.map((child) => child.exchange({ isOver: true }));
      const reports = (await Promise.all(ended)).map(Object);
      const sum = (what: string) => reports.reduce((all, report) => all + report[what], 0);
      const sentKb = (sum('sentBytes') / 1_024).toFixed(0);
      return `${sentKb} kB sent, ${sum('opened')} connections opened, ${sum('closed')} closed`;
    },
  }));
}

let written = 0;

/** Writes the document under another name each time, so that no cache serves it again. */
export function writerOf({ text, variables }: Pick<KnownDocument, 'text' | 'variables'>) {
  return () => {
    written += 1;
    return { text: text.replace(/ Q\b/, ` K${written}`), variables };
  };
}
