import {
  METHOD,
  type SentMethod,
  type WireMethod,
} from '../gateway/operations/get-withdrawal-methods.ts';
import type { SandboxUser } from './users.ts';

export function firstMethods({ login, positions }: SandboxUser): SentMethod[] {
  // A new account, which has no positions, has saved no method either.
  if (positions === 0) return [];
  return [
    {
      title: 'Bank account',
      icon: 'bank',
      type: 'bank-transfer',
      crmType: 'bank',
      id: login * 10 + 1,
      status: 'APPROVED',
      subtitle: `**** ${String(login).slice(-4)}`,
    },
  ];
}

export function cryptoWallet(id: number, address: string): SentMethod {
  return {
    title: 'Crypto wallet',
    icon: 'crypto',
    type: 'crypto',
    crmType: 'crypto',
    id,
    status: 'PENDING',
    subtitle: `${address.slice(0, 4)}...${address.slice(-4)}`,
  };
}

export function mobileWallet(id: number, provider: string, phone: string): SentMethod {
  return {
    title: 'Mobile wallet',
    icon: 'phone',
    type: provider,
    crmType: 'wallet',
    id,
    status: 'PENDING',
    subtitle: `**** ${phone.slice(-2)}`,
  };
}

/** The gateway's interface has a list of lists. Here each inner list has the methods of one kind. */
export function nested(methods: readonly SentMethod[]): WireMethod[][] {
  const kinds = Map.groupBy(methods, (method) => method.crmType);
  return kinds.size === 0 ? [[]] : [...kinds.values()].map((kind) => kind.map(METHOD.toWire));
}
