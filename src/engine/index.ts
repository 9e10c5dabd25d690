export type { Operation, OperationContext } from './admission/operation.ts';
export {
  ENGINE_LIMITS,
  type EngineLimitName,
  type EngineLimitSettings,
  FIXED_LIMITS,
} from './core/limits.ts';
export { createEngine, type Engine } from './create-engine.ts';
export { Documents, type PreparedOperation } from './documents/documents.ts';
export {
  ManifestError,
  readManifest,
  TrustedDocuments,
  type TrustedDocumentsOptions,
} from './documents/trusted-documents.ts';
export type { TeamPlugin } from './execution/pipeline.ts';
export type { HttpExchange } from './http/http-exchange.ts';
export { type Site, wantsPage } from './http/routes.ts';
export { ServerMetrics } from './requests/access-log.ts';
export { CONNECTIONS, type ConnectionBounds } from './requests/open-connections.ts';
export { type AllowedOrigins, isAllowedPage } from './requests/origins.ts';
