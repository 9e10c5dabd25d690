import type { CodeTraits } from '../../lib/error-traits.ts';
import { attribute } from '../../lib/extension-code.ts';
import type { BackendSettings } from '../gateway/backend-client.ts';
import { OPERATIONS } from '../gateway/operations.ts';
import { builder } from '../schema/builder.ts';
import { ERROR_CODES } from '../schema/error-codes.ts';
import { OrderRef, PositionRef } from '../schema/holding.ts';
import { InstrumentRef } from '../schema/instrument.ts';
import { SessionRef } from '../schema/session.ts';
import { createBackend } from './backend.ts';
import { backendSettings } from './backend-settings.ts';
import { DeclaredError } from './declared-error.ts';
import { computed, deadline, listSize, shared } from './extension-fields.ts';
import { fault } from './faults.ts';
import type { BackendOptions, Builder, ErrorTraits, Kit, Paths, Refs, Writes } from './kit.ts';
import { type DeclaredList, declareLive, type Options } from './live.ts';

export const VERSION = 1;

const CODE = /^[A-Z][A-Z0-9_]{1,63}$/;

const OUTCOMES: ReadonlySet<unknown> = new Set(['caller', 'refused', 'fault']);
const WORDS = "outcome: 'caller', 'refused' or 'fault', advice: a sentence";

/** Names that stand for the gateway's own in metrics. */
const TAKEN = new Set<string>(
  Object.values(OPERATIONS).flatMap(({ area, backend }) => [area, backend]),
);

/** The kit of one start, and what extensions have declared by it. */
export function createKit() {
  const backends = new Map<string, BackendSettings>();
  const codes: Record<string, CodeTraits & { readonly advice: string }> = {};
  const lists: DeclaredList[] = [];
  /** Elements of the schema that live lists have, and that run no code of an extension. */
  const elements = new Set<string>();
  const loaded = new Set<string>();
  const kitFor = (extension: string) => {
    const own = new Map<unknown, BackendSettings>();
    const checkTime = (called: string) => {
      if (!loaded.has(extension)) return;
      throw fault(
        `${called} came after the file had been loaded: nothing adds to the schema any more`,
      );
    };
    return {
      version: VERSION,
      builder: builderUntil(checkTime),
      refs: {
        Instrument: InstrumentRef,
        Position: PositionRef,
        Order: OrderRef,
        Session: SessionRef,
      } as unknown as Refs,
      listSize,
      shared,
      deadline,
      computed,
      live(options: Options) {
        checkTime('live(…)');
        const { name, backend } = options ?? {};
        if (backend === undefined && own.size > 1) {
          throw fault(`the live list ${name} must name the backend that it reads, as backend: …`);
        }
        const named = backend === undefined ? [...own.values()][0] : own.get(backend);
        if (backend !== undefined && named === undefined) {
          throw fault(`backend of the live list ${name} must be what backend(…) has returned`);
        }
        lists.push(declareLive(extension, options, named ?? null, (each) => elements.add(each)));
      },
      backend(options: BackendOptions<Paths, Writes>) {
        checkTime('backend(…)');
        const settings = backendSettings(options);
        if (TAKEN.has(settings.name) || backends.has(settings.name)) {
          throw fault(`the backend ${settings.name} is there already`);
        }
        backends.set(settings.name, settings);
        const made = createBackend(extension, settings, options, codes);
        own.set(made, settings);
        return made;
      },
      error(code: string, traits: ErrorTraits) {
        checkTime('error(…)');
        if (!CODE.test(code)) throw fault(`${code} is no code: capitals, digits and _`);
        if (code in ERROR_CODES || code in codes) throw fault(`the code ${code} is there already`);
        const { retryable, outcome, advice } = traits ?? {};
        const isWhole = typeof retryable === 'boolean' && typeof advice === 'string';
        if (!isWhole || !OUTCOMES.has(outcome)) {
          throw fault(`error('${code}', …) takes { retryable: true or false, ${WORDS} }`);
        }
        codes[code] = { retryable, outcome, advice };
        return (message: string) =>
          attribute(new DeclaredError(code, retryable, message), extension);
      },
    } satisfies Kit;
  };
  return { kitFor, loaded, backends, codes, lists, elements };
}

/** The schema's builder, which is asked before it adds anything, also by the refs that it makes. */
function builderUntil(checkTime: (called: string) => void): Builder {
  const own = new Proxy(builder, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== 'function') return member;
      return (...given: unknown[]) => {
        checkTime(`builder.${String(name)}(…)`);
        return member.apply(own, given);
      };
    },
  });
  // The resolvers of an extension are handed a ResolverContext, and no type says that to Pothos.
  return own as unknown as Builder;
}
