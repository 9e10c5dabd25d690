// Never compiled: no Swift runs where this project is tested.
import Apollo
import ApolloAPI
import Foundation

/// The token, and requests with it.
@MainActor public final class Session {
  private let clock = ServerClock()
  private let urlSession = URLSession(configuration: .ephemeral)
  private let client: ApolloClient
  private(set) var account = Keychain.read()
  /// The credentials of this run only. A run that has none shows the form again when the token ends.
  private var password: String?
  private var renewal: Task<String, any Error>?
  /// Called where somebody has signed in or out: what is followed is another's.
  var onAccount: @MainActor () -> Void = {}

  init(url: URL, onAnswer: @escaping @Sendable (Breadcrumb) -> Void) {
    let store = ApolloStore()
    let transport = RequestChainNetworkTransport(
      urlSession: urlSession, interceptorProvider: WireOnly(clock: clock, onAnswer: onAnswer), store: store, endpointURL: url)
    client = ApolloClient(
      networkTransport: transport, store: store,
      defaultRequestConfiguration: RequestConfiguration(requestTimeout: 10, writeResultsToCache: false))
  }

  public var isSignedIn: Bool { account != nil }

  /// Throws `SignedOut` with the server's words where it is refused.
  public func signIn(email: String, password: String) async throws {
    let token = try await logIn(email, password)
    try keep(Account(email: email, token: token), password)
  }

  public func signOut() { _ = end("signed out", of: account?.token) }

  /// The token, or another one than that which was refused: fetched once for all that wait for it.
  func token(refused: String?) async throws -> String {
    guard let account else { throw SignedOut(why: "nobody is signed in") }
    if account.token != refused { return account.token }
    if let renewal { return try await renewal.value }
    guard let password else { throw end("the token has ended", of: refused) }
    let next = Task {
      let fresh: String
      do {
        fresh = try await logIn(account.email, password)
      } catch let signedOut as SignedOut {
        throw end(signedOut.why, of: account.token)
      }
      guard self.account?.token == account.token else { throw SignedOut(why: "somebody has signed in or out meanwhile") }
      try keep(Account(email: account.email, token: fresh), password)
      return fresh
    }
    renewal = next
    defer { renewal = nil }
    return try await next.value
  }

  /// Where the renewed token is refused too nobody tries a third. Orders stay on the disk.
  func end(_ why: String, of token: String?) -> SignedOut {
    if account?.token == token {
      account = nil
      password = nil
      Keychain.delete()
      onAccount()
    }
    return SignedOut(why: why)
  }

  func ask<Query: GraphQLQuery>(_ query: Query, partial: Bool = false) async throws -> Query.Data
  where Query.ResponseFormat == SingleResponseFormat {
    try await withToken { try await self.client.fetch(query: query, cachePolicy: .networkOnly).dataOrThrow(partial: partial) }
  }

  /// With the token of this account alone: an order is never sent as another one's.
  func ask<Mutation: GraphQLMutation>(_ mutation: Mutation, of email: String) async throws -> Mutation.Data
  where Mutation.ResponseFormat == SingleResponseFormat {
    try await withToken(of: email) { try await self.client.perform(mutation: mutation).dataOrThrow() }
  }

  /// A multipart answer, which `URLSession` unpacks: its WebSockets are not packed, and hide the close code of an ended token.
  func events(after cursor: String?, token: String) throws -> SubscriptionStream<GraphQLResponse<Api.AccountSubscription>> {
    try Wire.$token.withValue(token) {
      try client.subscribe(
        subscription: Api.AccountSubscription(after: cursor ?? .none),
        cachePolicy: .networkOnly,
        // The heartbeat and ten seconds without a byte: then the line is dead, though nobody says so.
        requestConfiguration: RequestConfiguration(requestTimeout: 25, writeResultsToCache: false)
      )
    }
  }

  /// Requests from now on, orders too, go over new connections: those that are kept answer nothing.
  func leaveConnections() async { await urlSession.flush() }

  func serverTime() async throws -> Date {
    if let now = await clock.now { return now }
    _ = try await ask(Api.HomeQuery(), partial: true)
    guard let now = await clock.now else { throw URLError(.badServerResponse) }
    return now
  }

  /// A refused token is renewed once.
  private func withToken<Answer: Sendable>(of email: String? = nil, _ send: () async throws -> Answer) async throws -> Answer {
    var refused: String?
    while true {
      let sent = try await token(refused: refused)
      if let email, email != account?.email { throw SignedOut(why: "another account is signed in") }
      do {
        return try await Wire.$token.withValue(sent) { try await send() }
      } catch let refusal as Refused where refusal.isOfToken {
        if refused != nil { throw end(refusal.message, of: sent) }
        refused = sent
      }
    }
  }

  private func logIn(_ email: String, _ password: String) async throws -> String {
    let input = Api.LoginInput(email: email, password: password)
    let answer = try await client.perform(mutation: Api.SignInMutation(input: input)).dataOrThrow().login
    if let token = answer?.asLoginSuccess?.accessToken { return token }
    throw SignedOut(why: answer?.asRefusal?.message ?? "refused")
  }

  private func keep(_ account: Account, _ password: String) throws {
    try Keychain.write(account)
    let isAnother = self.account?.email != account.email
    self.account = account
    self.password = password
    if isAnother { onAccount() }
  }
}
