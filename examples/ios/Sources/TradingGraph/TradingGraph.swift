// This file was never compiled, because the project is tested without Swift.
import Apollo
import ApolloAPI
import Foundation
import Network
import Observation

/// The parts of an app that share a session.
@MainActor public final class TradingGraph {
  public let session: Session
  public let account: LiveAccount
  public let orders: Orders
  private let network = NetworkState()

  /// `store` keeps the account in the Keychain.
  public init(url: URL, store: any AccountStore) {
    session = Session(url: url, store: store)
    account = LiveAccount(session: session)
    orders = Orders(session: session, network: network)
    network.start { [account] in account.networkIsBack() }
    session.onAccount = { [account] in account.accountChanged() }
  }

  /// The first screen in one query. A field that has failed is nil; the others have their data.
  public func home() async throws -> Api.HomeQuery.Data { try await session.ask(Api.HomeQuery(), partial: true) }
}

/// Orders check `isOnline` before they are sent.
@MainActor final class NetworkState {
  private let monitor = NWPathMonitor()
  private var interface: NWInterface.InterfaceType?
  private(set) var isOnline = true

  func start(onReturn: @escaping @MainActor () -> Void) {
    monitor.pathUpdateHandler = { path in
      let isOnline = path.status == .satisfied
      let interface = path.availableInterfaces.first?.type
      Task { @MainActor in
        // After an outage any interface counts as a change.
        let before = self.isOnline ? self.interface : nil
        self.isOnline = isOnline
        self.interface = interface
        if isOnline && interface != before { onReturn() }
      }
    }
    monitor.start(queue: .main)
  }
}

/// The account that is signed in.
public struct Account: Codable, Sendable {
  public let email: String
  public let token: String
}

@MainActor public protocol AccountStore {
  /// Nil if no user is signed in.
  func read() -> Account?
  func write(_ account: Account?) throws
}

/// Keeps the account with its token, and sends requests with it.
@MainActor public final class Session {
  private let clock = ServerClock()
  private let urlSession = URLSession(configuration: .ephemeral)
  private let client: ApolloClient
  private let store: any AccountStore
  private(set) var account: Account?
  /// The password is kept in memory only. After a restart the sign-in form is shown again when the token ends.
  private var password: String?
  private var renewal: Task<String, any Error>?
  /// Called after a sign-in or sign-out: live data must be that of the new account.
  var onAccount: @MainActor () -> Void = {}

  init(url: URL, store: any AccountStore) {
    self.store = store
    account = store.read()
    let cache = ApolloStore()
    let transport = RequestChainNetworkTransport(
      urlSession: urlSession, interceptorProvider: WireOnly(clock: clock), store: cache, endpointURL: url)
    client = ApolloClient(
      networkTransport: transport, store: cache,
      defaultRequestConfiguration: RequestConfiguration(requestTimeout: 10, writeResultsToCache: false))
  }

  public var isSignedIn: Bool { account != nil }

  /// Throws `SignedOut` with the server's message if the sign-in is refused.
  public func signIn(email: String, password: String) async throws {
    let token = try await logIn(email, password)
    try keep(Account(email: email, token: token), password)
  }

  public func signOut() { _ = end("signed out", of: account?.token) }

  /// The account's token. If that token was refused, it is renewed once for all callers.
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

  /// Signs the user out, unless another token has replaced this one. Orders stay on the disk. Returns the error to throw.
  func end(_ why: String, of token: String?) -> SignedOut {
    if account?.token == token {
      account = nil
      password = nil
      try? store.write(nil)
      onAccount()
    }
    return SignedOut(why: why)
  }

  func ask<Query: GraphQLQuery>(_ query: Query, partial: Bool = false) async throws -> Query.Data
  where Query.ResponseFormat == SingleResponseFormat {
    try await withToken { try await self.client.fetch(query: query, cachePolicy: .networkOnly).dataOrThrow(partial: partial) }
  }

  /// Sends with the token of this account alone: an order must never be sent for another account.
  func ask<Mutation: GraphQLMutation>(_ mutation: Mutation, of email: String) async throws -> Mutation.Data
  where Mutation.ResponseFormat == SingleResponseFormat {
    try await withToken(of: email) { try await self.client.perform(mutation: mutation).dataOrThrow() }
  }

  /// Subscribes by a multipart answer. The WebSockets of `URLSession` do not compress, and hide the close code of a refused
  /// token.
  func events(after cursor: String?, token: String) throws -> SubscriptionStream<GraphQLResponse<Api.AccountSubscription>> {
    try Wire.$token.withValue(token) {
      try client.subscribe(
        subscription: Api.AccountSubscription(after: cursor ?? .none),
        cachePolicy: .networkOnly,
        // Heartbeats come every 15 s. After 25 s without a byte the connection is dead, even if no error was reported.
        requestConfiguration: RequestConfiguration(requestTimeout: 25, writeResultsToCache: false)
      )
    }
  }

  /// Drops the kept connections, which are dead. Later requests, also those of orders, open new ones.
  func leaveConnections() async { await urlSession.flush() }

  /// The server's time. If no answer has named it yet, a query asks for it.
  func serverTime() async throws -> Date {
    if let now = await clock.now { return now }
    _ = try await ask(Api.HomeQuery(), partial: true)
    guard let now = await clock.now else { throw URLError(.badServerResponse) }
    return now
  }

  /// Sends with the account's token. A refused token is renewed once.
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
    try store.write(account)
    let isAnother = self.account?.email != account.email
    self.account = account
    self.password = password
    if isAnother { onAccount() }
  }
}

/// The account: a snapshot, and all changes since.
public struct AccountState {
  public var positions: [String: Api.PositionRow] = [:]
  public var orders: [String: Api.OrderRow] = [:]
  public var figures: Api.Figures?
  /// Nil while there is no connection.
  public var status: GraphQLEnum<Api.FeedStatus>?
  /// Show it next to the list if the status is not `LIVE`.
  public var asOf: Api.DateTime?

  mutating func fold(_ event: Api.AccountSubscription.Data.AccountChanges) {
    if event.snapshot {
      positions.removeAll()
      orders.removeAll()
    }
    for id in event.positions.closed { positions[id] = nil }
    for row in event.positions.upserted.map(\.fragments.positionRow) { positions[row.id] = row }
    for tick in event.positions.ticks {
      guard let row = positions[tick.id] else { continue }
      positions[tick.id] = Api.PositionRow(
        id: row.id, symbol: row.symbol, side: row.side, units: row.units, profit: tick.profit)
    }
    for id in event.orders?.closed ?? [] { orders[id] = nil }
    for row in event.orders?.upserted.map(\.fragments.orderRow) ?? [] { orders[row.id] = row }
    if let session = event.session { figures = session.fragments.figures }
    status = event.status
    asOf = event.asOf
  }
}

@MainActor @Observable public final class LiveAccount {
  public private(set) var state = AccountState()
  @ObservationIgnored private let session: Session
  @ObservationIgnored private var email: String?
  @ObservationIgnored private var cursor: String?
  /// The token that the server refused last; nil once an event has arrived with a newer one.
  @ObservationIgnored private var refused: String?
  @ObservationIgnored private var failures = 0
  @ObservationIgnored private var isConnectionDead = false
  /// The subscription, or the pause before the next one.
  @ObservationIgnored private var step: Task<Void, any Error>?

  init(session: Session) { self.session = session }

  /// Follows the account. Throws when no user is signed in, or the server's error is permanent.
  public func follow() async throws {
    while true {
      try Task.checkCancellation()
      var seconds = pause(failures, longest: 30)
      var sent: String?
      do {
        let token = try await session.token(refused: refused)
        sent = token
        begin(session.account?.email)
        try await run { try await self.read(token) }
      } catch let refusal as Refused where refusal.isOfToken {
        if refused != nil { throw session.end(refusal.message, of: sent) }
        refused = sent
        seconds = 0
      } catch let refusal as Refused {
        if !refusal.isRetryable { throw refusal }
        seconds += refusal.retryAfter
      } catch let signedOut as SignedOut {
        throw signedOut
      } catch {
        // The connection is lost.
        if (error as? URLError)?.code == .timedOut { isConnectionDead = true }
      }
      // The server has not refused the new token. If it does so later, that token may be renewed too.
      if sent != nil && sent != refused { refused = nil }
      state.status = nil
      failures += 1
      if !isConnectionDead { try? await run { try await Task.sleep(for: .seconds(seconds)) } }
      if isConnectionDead { await session.leaveConnections() }
      isConnectionDead = false
    }
  }

  /// Called if the network is back or has changed.
  func networkIsBack() {
    failures = 0
    isConnectionDead = true
    step?.cancel()
  }

  /// Called after a sign-in or sign-out.
  func accountChanged() {
    begin(nil)
    networkIsBack()
  }

  /// Forgets the list and the cursor of another account.
  private func begin(_ next: String?) {
    if next == email { return }
    email = next
    cursor = nil
    state = AccountState()
  }

  private func read(_ token: String) async throws {
    for try await answer in try session.events(after: cursor, token: token) {
      let event = try answer.dataOrThrow(partial: true).accountChanges
      state.fold(event)
      cursor = event.cursor
      refused = nil
      failures = 0
    }
  }

  /// Waits until the step ends, the screen is closed, or `networkIsBack` is called.
  private func run(_ work: @escaping @MainActor () async throws -> Void) async throws {
    let task = Task { try await work() }
    step = task
    try await withTaskCancellationHandler { try await task.value } onCancel: { task.cancel() }
  }
}

private struct Kept: Codable {
  let account: String
  let key: String
  let since: String
}

/// The reasons that prove that no request with the key was carried out. A server may add reasons that do not prove this.
private let PROOFS: [GraphQLEnum<Api.UnsentReason>?] = [.case(.voided), .case(.settled)]

/// Orders, each kept on disk under its key from before it is sent until its outcome is known.
@MainActor public final class Orders {
  private let session: Session
  private let network: NetworkState
  private let folder = URL.applicationSupportDirectory.appending(path: "orders")

  init(session: Session, network: NetworkState) {
    self.session = session
    self.network = network
  }

  /// Call it once for a tap. Returns nil if the server's records do not reach back to this order: its outcome is unknown.
  public func place(symbol: String, side: Api.Side, units: Double) async throws -> Api.Outcome? {
    guard network.isOnline else { throw Offline() }
    guard let account = session.account else { throw SignedOut(why: "nobody is signed in") }
    let since = try await session.serverTime()
    let sendBefore = since.addingTimeInterval(30)
    let kept = Kept(account: account.email, key: UUID().uuidString, since: since.ISO8601Format())
    let input = Api.PlaceOrderInput(
      idempotencyKey: kept.key, keyMade: .some(kept.since), kind: .some(.case(.market)),
      sendBefore: .some(sendBefore.ISO8601Format()), side: .case(side),
      size: .units(units), symbol: symbol)
    try keep(kept)
    // The order continues even if the screen is closed.
    return try await Task { try await settle(kept, input, sendBefore) }.value
  }

  /// Finds the outcome of orders from before the app ended, which are not sent again. Call it at the start of the app and
  /// after a sign-in. The next start asks again about an order whose request was refused.
  public func resume() async throws -> [Api.Outcome?] {
    var outcomes: [Api.Outcome?] = []
    let files = (try? FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)) ?? []
    for file in files where file.pathExtension == "json" {
      let kept = try JSONDecoder().decode(Kept.self, from: Data(contentsOf: file))
      // A key belongs to its account: with another account's token the server would answer that nothing was sent.
      guard kept.account == session.account?.email else { continue }
      do {
        outcomes.append(try await close(kept))
      } catch is Refused {
        continue
      }
    }
    return outcomes
  }

  /// Sends the order, and repeats it under its key until `sendBefore`. Then voids its key.
  private func settle(_ kept: Kept, _ input: Api.PlaceOrderInput, _ sendBefore: Date) async throws -> Api.Outcome? {
    var refusal: Refused?
    var failures = 0
    while try await session.serverTime() < sendBefore {
      var seconds = pause(failures, longest: 4)
      do {
        let outcome = try await session.ask(Api.PlaceMutation(input: input), of: kept.account).placeOrder?.fragments.outcome
        // This answer says nothing about earlier requests, such as one that a proxy has sent twice. So the key is voided.
        if outcome?.asOrderRejected?.sent == false { break }
        if let outcome { return end(kept, outcome) }
      } catch let refused as Refused {
        refusal = refused
        if !refused.isRetryable { break }
        seconds += refused.retryAfter
      } catch let signedOut as SignedOut {
        throw signedOut
      } catch {
        // Without an answer it is unknown whether the order was sent.
        refusal = nil
      }
      try await Task.sleep(for: .seconds(seconds))
      failures += 1
    }
    let outcome = try await close(kept)
    // The order was certainly not placed: reports the server's reason.
    if let refusal, outcome?.asOrderRejected?.sent == false { throw refusal }
    return outcome
  }

  /// Voids the key: returns the outcome if the order was placed. Otherwise ensures that the order is never placed.
  private func close(_ kept: Kept) async throws -> Api.Outcome? {
    var failures = 0
    while true {
      var seconds = pause(failures, longest: 4)
      do {
        if let outcome = try await voided(kept.key, kept) {
          // Other reasons do not prove that nothing was carried out: the server may have lost the order's record. So this
          // voids another key of the same age, which throws if the records do not reach back that far.
          let rejected = outcome.asOrderRejected
          if rejected?.sent == false && !PROOFS.contains(rejected?.reason) { _ = try await voided(UUID().uuidString, kept) }
          return end(kept, outcome)
        }
      } catch let refused as Refused {
        if refused.code == "IDEMPOTENCY_UNAVAILABLE" && !refused.isRetryable && !refused.isLimit {
          delete(kept)
          return nil
        }
        if !refused.isRetryable { throw refused }
        seconds += refused.retryAfter
      } catch let signedOut as SignedOut {
        throw signedOut
      } catch {
        // The server was not reached: tries again after the pause.
      }
      try await Task.sleep(for: .seconds(seconds))
      failures += 1
    }
  }

  private func voided(_ key: String, _ kept: Kept) async throws -> Api.Outcome? {
    try await session.ask(Api.VoidMutation(key: key, since: .some(kept.since)), of: kept.account).voidOrder?.fragments.outcome
  }

  /// An unknown order stays on the disk, so that the next start asks again.
  private func end(_ kept: Kept, _ outcome: Api.Outcome) -> Api.Outcome {
    if outcome.asOrderOutcomeUnknown == nil { delete(kept) }
    return outcome
  }

  private func keep(_ kept: Kept) throws {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let options: Data.WritingOptions = [.atomic, .completeFileProtectionUntilFirstUserAuthentication]
    try JSONEncoder().encode(kept).write(to: file(kept), options: options)
  }

  private func delete(_ kept: Kept) { try? FileManager.default.removeItem(at: file(kept)) }

  private func file(_ kept: Kept) -> URL { folder.appending(path: "\(kept.key).json") }
}

/// The server's time: the last `Date` plus the uptime since then, because users change clocks. The result is at most two
/// seconds behind.
actor ServerClock {
  private var last: (date: Date, at: ContinuousClock.Instant)?

  var now: Date? {
    guard let last else { return nil }
    return last.date.addingTimeInterval(Double((ContinuousClock.now - last.at).components.seconds))
  }

  func note(_ date: String) {
    let format = DateFormatter()
    format.locale = Locale(identifier: "en_US_POSIX")
    format.dateFormat = "EEE, dd MMM yyyy HH:mm:ss zzz"
    if let date = format.date(from: date) { last = (date, .now) }
  }
}

/// Adds the token to each request, and records the date of its answer.
struct Wire: HTTPInterceptor {
  @TaskLocal static var token: String?
  let clock: ServerClock

  func intercept(request: URLRequest, next: NextHTTPInterceptorFunction) async throws -> HTTPResponse {
    var request = request
    if let token = Wire.token { request.setValue("Bearer \(token)", forHTTPHeaderField: "Authorization") }
    let answer = try await next(request)
    if let date = answer.response.value(forHTTPHeaderField: "Date") { await clock.note(date) }
    return answer
  }
}

/// Leaves out Apollo's check of the HTTP status, because the body of a refusal has the server's error.
struct WireOnly: InterceptorProvider {
  let clock: ServerClock

  func httpInterceptors<Operation: GraphQLOperation>(for operation: Operation) -> [any HTTPInterceptor] {
    [Wire(clock: clock)]
  }
}

/// The first error of an answer, with the server's code, and whether the same request may succeed later.
public struct Refused: Error {
  public let message: String
  public let code: String?
  public let isRetryable: Bool
  let retryAfter: Double
  /// Whether the account has used up a limit of orders or keys.
  let isLimit: Bool

  init(_ error: GraphQLError) {
    let extensions = error.extensions ?? [:]
    message = error.message ?? ""
    code = extensions["code"] as? String
    isRetryable = extensions["retryable"] as? Bool ?? false
    retryAfter = (extensions["retryAfter"] as? NSNumber)?.doubleValue ?? 0
    isLimit = extensions["limit"] != nil
  }

  var isOfToken: Bool { code == "UNAUTHENTICATED" }
}

/// No user is signed in: show the sign-in form.
public struct SignedOut: Error { public let why: String }

/// There is no network: the order was not placed, and is not sent later.
public struct Offline: Error {}

extension GraphQLResponse {
  /// With `partial` an answer may lack fields that failed. Without it any error is thrown.
  func dataOrThrow(partial: Bool = false) throws -> Operation.Data {
    let refusals = (errors ?? []).map(Refused.init)
    if let ended = refusals.first(where: \.isOfToken) { throw ended }
    if let data, refusals.isEmpty || partial { return data }
    if let refusal = refusals.first { throw refusal }
    throw URLError(.cannotParseResponse)
  }
}

/// A pause of up to 1, 2, 4 … seconds, and of at least half of that.
func pause(_ failures: Int, longest: Double) -> Double {
  let ceiling = min(longest, pow(2, Double(min(failures, 10))))
  return Double.random(in: ceiling / 2 ..< ceiling)
}
