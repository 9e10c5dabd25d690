// News and price alerts of another service, beside the contract's own fields: EXTENSIONS=examples/extension/graph.ts npm start
import { GraphQLError } from 'graphql';
import type { Extension } from 'trading-graph/extension';

interface Article {
  readonly id: string;
  readonly symbol: string;
  readonly headline: string;
  readonly published: number;
}

type Alert = { readonly id: string; readonly symbol: string; readonly price: number };

const extension: Extension = async ({ builder, refs, backend, live, listSize, shared, error }) => {
  const url = process.env.NEWS_URL ?? (await (await import('./service.ts')).startService());
  const news = backend({
    name: 'news',
    url,
    timeoutMs: 2_000,
    reads: { articles: '/v2/articles' },
  });
  const articlesOf = news.loader('articles', {
    request: (symbols) => ({ query: { symbols: symbols.join(',') } }),
    pick: ({ articles }: { articles: Article[] }, symbol) =>
      articles.filter((article) => article.symbol === symbol),
  });

  const untitled = error('ARTICLE_UNTITLED', {
    retryable: false,
    outcome: 'fault',
    advice: 'Show the article without its headline.',
  });
  const tooMany = error('TOO_MANY_ALERTS', {
    retryable: false,
    outcome: 'caller',
    advice: 'Let the user delete an alert first.',
  });
  const alerts = backend({
    name: 'alerts',
    url,
    // The service is asked for accounts that the gateway has accepted this very token for.
    loginHeader: 'x-account-login',
    reads: { list: '/alerts' },
    writes: { create: { path: '/alerts', refreshes: ['priceAlerts'] } },
    judge({ status, body }) {
      const words = () => (body as { readonly message: string }).message;
      if (status === 409) throw tooMany(words());
      // Without a code of the caller's the outcome of a write would be unknown, as it is below.
      if (status === 400)
        throw new GraphQLError(words(), { extensions: { code: 'BAD_USER_INPUT' } });
      if (status >= 300) throw new Error(`the alerts' service answers ${status}`);
      return body;
    },
  });

  const ArticleRef = builder.objectRef<Article>('Article').implement({
    description: 'A piece of news about an instrument.',
    fields: (t) => ({
      id: t.exposeID('id', { description: 'Its id.' }),
      headline: t.string({
        nullable: true,
        description: 'Its headline.',
        // One article without it is no reason to withhold the others.
        resolve({ headline }) {
          if (typeof headline !== 'string') throw untitled('This article has no headline.');
          return headline;
        },
      }),
      publishedAt: t.field({
        type: 'DateTime',
        description: 'When it was published.',
        resolve: ({ published }) => new Date(published * 1_000),
      }),
      instrument: t.field({
        type: refs.Instrument,
        nullable: true,
        description: 'The instrument that it is about.',
        resolve: ({ symbol }, _args, context) => context.instrument(symbol),
      }),
    }),
  });

  const AlertRef = builder.objectRef<Alert>('PriceAlert').implement({
    description: 'A price at which the user wants to be told.',
    fields: (t) => ({
      id: t.exposeID('id', { description: 'Its id.' }),
      symbol: t.exposeID('symbol', { description: 'The symbol of the instrument.' }),
      price: t.exposeFloat('price', { description: 'The price.' }),
    }),
  });

  live({
    name: 'priceAlerts',
    description: 'The price alerts of the account.',
    type: AlertRef,
    key: ({ id }) => id,
    everyMs: 2_000,
    backend: alerts,
    read: async (context) => (await alerts.read<{ alerts: Alert[] }>(context, 'list')).alerts,
  });

  builder.queryField('news', (t) =>
    t.field({
      ...listSize(20),
      ...shared({ seconds: 60 }),
      type: [ArticleRef],
      nullable: true,
      description: 'The news about an instrument, the same for everybody.',
      args: { symbol: t.arg.id({ required: true, description: 'Its symbol.' }) },
      resolve: (_root, { symbol }, context) => articlesOf(context, symbol),
    }),
  );

  builder.objectField(refs.Instrument, 'news', (t) =>
    t.field({
      ...listSize(20),
      type: [ArticleRef],
      nullable: true,
      description: 'The news about it.',
      resolve: ({ id }, _args, context) => articlesOf(context, id),
    }),
  );

  builder.mutationField('createPriceAlert', (t) =>
    t.field({
      type: AlertRef,
      nullable: true,
      description: 'Creates a price alert. Nothing is sent twice.',
      args: {
        symbol: t.arg.id({ required: true, description: 'The symbol of the instrument.' }),
        price: t.arg.float({ required: true, description: 'The price.' }),
      },
      resolve: (_root, body, context) => alerts.write<Alert>(context, 'create', { body }),
    }),
  );
};

export default extension;
