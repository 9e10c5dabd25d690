export type { RequestOptions, Result, Sink } from './core.ts';
export { type Client, type ClientOptions, createClient } from './create-client.ts';
export type { Environment, Lifecycle } from './environment.ts';
export { type ErrorDetails, TradingGraphError } from './errors.ts';
export type { Operation, TrustedDocument, TypedDocument, TypedText } from './operation.ts';
export type { TokenSource } from './request/tokens.ts';
export type { ClientStorage } from './storage.ts';
