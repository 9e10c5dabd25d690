import type { SandboxUser } from './users.ts';

/** A saved payment destination, as operation 11 sends it. */
export interface WithdrawalMethod {
  readonly title: string;
  readonly icon: string;
  readonly type: string;
  readonly crmType: string;
  readonly id: number;
  readonly status: string;
  readonly subtitle: string;
}

export function firstMethods({ login, positions }: SandboxUser): WithdrawalMethod[] {
  // An account that never traded has not saved a destination either.
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

export function cryptoWallet(id: number, address: string): WithdrawalMethod {
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

export function mobileWallet(id: number, provider: string, phone: string): WithdrawalMethod {
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

/** The interface nests the list in a list; here each kind of destination is an inner list. */
export function nested(methods: readonly WithdrawalMethod[]): WithdrawalMethod[][] {
  const kinds = Map.groupBy(methods, (method) => method.crmType);
  return kinds.size === 0 ? [[]] : [...kinds.values()];
}
