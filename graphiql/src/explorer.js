// The query builder. It is CommonJS: if it asked for `graphql` itself, all of that would be one piece that the page starts with.
import { explorerPlugin } from '@graphiql/plugin-explorer';
import * as graphql from './explorer-language.js';
import language from './language.cjs';

Object.assign(language, graphql);

export const { content } = explorerPlugin();
