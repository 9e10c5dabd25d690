import * as SecureStore from 'expo-secure-store';
import { useSyncExternalStore } from 'react';
import { AppState } from 'react-native';
import type { TypedText } from 'trading-graph-client';
import { createRequests } from 'trading-graph-client/requests';

export interface Credentials {
  readonly email: string;
  readonly password: string;
}

interface Held {
  readonly token: string;
  readonly login: string | null;
}

/** `locked`: the token has ended, and the credentials wait for a finger or a face. */
export type SessionStatus = 'signed-out' | 'signed-in' | 'locked';

interface SignIn {
  readonly login: {
    readonly accessToken?: string;
    readonly session?: { readonly login: string } | null;
    readonly message?: string | null;
  } | null;
}

// There is a `refreshToken` too, but the gateway's interface shows no operation that takes it.
const SIGN_IN: TypedText<SignIn, { input: Credentials }> = `
  mutation SignIn($input: LoginInput!) {
    login(input: $input) {
      ... on LoginSuccess { accessToken session { id login } }
      ... on LoginRejected { message }
    }
  }`;

export const URL = process.env.EXPO_PUBLIC_GRAPHQL_URL ?? 'http://127.0.0.1:4000/graphql';

// The token serves what runs in the background, while the phone is locked; backups carry neither to another phone.
const HELD = 'trading-graph-session';
export const ON_THIS_PHONE = {
  keychainAccessible: SecureStore.AFTER_FIRST_UNLOCK_THIS_DEVICE_ONLY,
};
const CREDENTIALS = 'trading-graph-credentials';
const BEHIND_BIOMETRICS = {
  keychainAccessible: SecureStore.WHEN_UNLOCKED_THIS_DEVICE_ONLY,
  requireAuthentication: true,
  authenticationPrompt: 'Stay signed in',
};

let held: Held | null = null;
/** Read once a run: each renewal after the first asks for no finger, in the background too. */
let credentials: Credentials | null = null;
let status: SessionStatus = 'signed-out';
let renewing: Promise<string | null> | null = null;
const listeners = new Set<() => void>();
const requests = createRequests({ url: URL, token: () => null });

/** Takes up the session of the last run. */
export async function openSession(): Promise<void> {
  const text = await SecureStore.getItemAsync(HELD, ON_THIS_PHONE);
  held = text === null ? null : (JSON.parse(text) as Held);
  show(held === null ? 'signed-out' : 'signed-in');
}

export const heldLogin = (): string | null => held?.login ?? null;

/**
 * The client's `token`. A token that has ended is replaced in silence, and nobody is signed out. Null, where the
 * credentials are refused, signs out; an error is tried again later.
 */
export async function freshToken({ force }: { force: boolean }): Promise<string | null> {
  if (!force) return held?.token ?? null;
  // Nothing can be asked for in the background, nor again and again of a user who has said no.
  const mayAsk = AppState.currentState !== 'background' && status !== 'locked';
  if (credentials === null && renewing === null && !mayAsk) throw locked();
  return renewed();
}

/** The user taps on "Unlock". The client has to be told afterwards, by `tokenChanged`. */
export async function unlock(): Promise<void> {
  if ((await renewed()) === null) await signOut();
}

/** Null where that has worked, else why it was refused. */
export async function signIn(given: Credentials): Promise<string | null> {
  const answer = await asked(given);
  if (typeof answer === 'string') return answer;
  credentials = given;
  await keep(answer);
  // Without a finger or a face that the phone knows there is no renewal after a restart: the form is shown again.
  await SecureStore.setItemAsync(CREDENTIALS, JSON.stringify(given), BEHIND_BIOMETRICS).catch(
    () => {},
  );
  return null;
}

/** By the user, or by the server that refuses the credentials. */
export async function signOut(): Promise<void> {
  held = null;
  credentials = null;
  show('signed-out');
  await SecureStore.deleteItemAsync(HELD, ON_THIS_PHONE);
  await SecureStore.deleteItemAsync(CREDENTIALS, BEHIND_BIOMETRICS);
}

export function useSessionStatus(): SessionStatus {
  return useSyncExternalStore(subscribe, () => status);
}

/** The new token; null where the credentials are gone or refused. All who wait share one prompt and one sign-in. */
function renewed(): Promise<string | null> {
  renewing ??= renew().finally(() => {
    renewing = null;
  });
  return renewing;
}

async function renew(): Promise<string | null> {
  const ended = held;
  const known = credentials ?? (await kept());
  if (known === null) return null;
  const answer = await asked(known);
  // Somebody has signed in or out meanwhile.
  if (held !== ended) return held?.token ?? null;
  if (typeof answer === 'string') return null;
  credentials = known;
  await keep(answer);
  return answer.token;
}

/** Asks for a finger or a face. Rejects where the user says no. */
async function kept(): Promise<Credentials | null> {
  try {
    const text = await SecureStore.getItemAsync(CREDENTIALS, BEHIND_BIOMETRICS);
    return text === null ? null : (JSON.parse(text) as Credentials);
  } catch {
    throw locked();
  }
}

/** Why it was refused, as a text. Throws where nobody could be asked. */
async function asked(input: Credentials): Promise<Held | string> {
  const { data, errors } = await requests.mutate(SIGN_IN, { input }, { anonymous: true });
  const answer = data?.login;
  if (answer == null) throw errors[0] ?? new Error('The server gave no answer.');
  const { accessToken: token, session, message } = answer;
  if (token === undefined) return message ?? 'The sign-in was refused.';
  return { token, login: session?.login ?? null };
}

async function keep(given: Held): Promise<void> {
  held = given;
  show('signed-in');
  await SecureStore.setItemAsync(HELD, JSON.stringify(given), ON_THIS_PHONE);
}

function locked(): Error {
  if (held !== null) show('locked');
  return new Error('The credentials are locked.');
}

function show(next: SessionStatus): void {
  status = next;
  for (const listener of [...listeners]) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}
