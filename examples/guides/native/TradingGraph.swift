import Api
import Apollo
import ApolloAPI
import ApolloWebSocket
import Foundation
import Network

// The first error of an answer: the server says what it is, and whether the same request may succeed later.
struct Refused: Error {
  let message: String
  let code: String?
  let isRetryable: Bool
  let retryAfter: Double

  init(_ error: GraphQLError) {
    message = error.message ?? ""
    code = error.extensions?["code"] as? String
    isRetryable = error.extensions?["retryable"] as? Bool ?? false
    retryAfter = error.extensions?["retryAfter"] as? Double ?? 0
  }
}

// Nobody is signed in: show the form of the sign-in.
struct SignedOut: Error { let why: String }

struct LineLost: Error { let isSilent: Bool }

// There is no network: the order was not placed, and does not go out when the network is back.
struct Offline: Error {}

// 1, 2, 4 … seconds, and with jitter.
func pause(_ failures: Int, longest: Double) -> Double {
  let ceiling = min(longest, pow(2, Double(min(failures, 10))))
  return Double.random(in: ceiling / 2 ..< ceiling)
}

// The server's time by the last `Date` and this device's uptime, which nobody sets; behind by a second, or by what the device slept since.
final class ServerClock {
  static let shared = ServerClock()
  private let lock = NSLock()
  private var ahead = 0.0

  var now: Date { lock.withLock { Date(timeIntervalSince1970: ProcessInfo.processInfo.systemUptime + ahead) } }

  func heard(_ date: String) {
    let format = DateFormatter()
    format.locale = Locale(identifier: "en_US_POSIX")
    format.dateFormat = "EEE, dd MMM yyyy HH:mm:ss zzz"
    guard let at = format.date(from: date) else { return }
    lock.withLock { ahead = at.timeIntervalSince1970 - ProcessInfo.processInfo.systemUptime }
  }
}

struct Token: RequestContext { let value: String }

// First and last of a request's interceptors: the token goes out, the date comes in.
final class TokenAndDate: ApolloInterceptor {
  let id = UUID().uuidString

  func interceptAsync<Operation: GraphQLOperation>(
    chain: any RequestChain, request: HTTPRequest<Operation>, response: HTTPResponse<Operation>?,
    completion: @escaping (Result<GraphQLResult<Operation.Data>, any Error>) -> Void
  ) {
    if let token = request.context as? Token { request.addHeader(name: "authorization", value: "Bearer \(token.value)") }
    if let date = response?.httpResponse.value(forHTTPHeaderField: "Date") { ServerClock.shared.heard(date) }
    chain.proceedAsync(request: request, response: response, interceptor: self, completion: completion)
  }
}

final class Interceptors: DefaultInterceptorProvider {
  override func interceptors<Operation: GraphQLOperation>(for operation: Operation) -> [any ApolloInterceptor] {
    [TokenAndDate()] + super.interceptors(for: operation) + [TokenAndDate()]
  }
}

// The token, and requests with it.
actor Session {
  let email: String
  private let password: String
  private var token: String?
  private var renewal: Task<String, Error>?
  private var end: SignedOut?
  private let client: ApolloClient

  init(email: String, password: String) {
    self.email = email
    self.password = password
    let store = ApolloStore()
    let configuration = URLSessionConfiguration.default
    configuration.timeoutIntervalForRequest = 10
    let interceptors = Interceptors(client: URLSessionClient(sessionConfiguration: configuration), store: store)
    let transport = RequestChainNetworkTransport(interceptorProvider: interceptors, endpointURL: URL(string: "https://example.com/graphql")!)
    client = ApolloClient(networkTransport: transport, store: store)
  }

  // The token, or another one than that which was refused: fetched once for all that wait for it.
  func token(refused: String?) async throws -> String {
    if let end { throw end }
    if let token, token != refused { return token }
    if let renewal { return try await renewal.value }
    let next = Task { try await signIn() }
    renewal = next
    defer { renewal = nil }
    let fresh = try await next.value
    token = fresh
    return fresh
  }

  // Where the renewed token is refused too nobody tries a third.
  func giveUp(_ why: String) -> SignedOut {
    let signedOut = SignedOut(why: why)
    end = signedOut
    return signedOut
  }

  // An answer to a request with the token; a refused token is renewed once.
  func ask<Mutation: GraphQLMutation>(_ mutation: Mutation) async throws -> Mutation.Data {
    let sent = try await token(refused: nil)
    do {
      return try await send(mutation, Token(value: sent))
    } catch let refused as Refused where refused.code == "UNAUTHENTICATED" {
      let fresh = try await token(refused: sent)
      do {
        return try await send(mutation, Token(value: fresh))
      } catch let refused as Refused where refused.code == "UNAUTHENTICATED" {
        throw giveUp(refused.message)
      }
    }
  }

  private func signIn() async throws -> String {
    let input = Api.LoginInput(email: email, password: password)
    let answer = try await send(Api.SignInMutation(input: input), nil)
    guard let token = answer.login?.asLoginSuccess?.accessToken else { throw giveUp(answer.login?.asRefusal?.message ?? "refused") }
    return token
  }

  private func send<Mutation: GraphQLMutation>(_ mutation: Mutation, _ token: Token?) async throws -> Mutation.Data {
    let answer = try await withCheckedThrowingContinuation { done in
      client.perform(mutation: mutation, context: token) { done.resume(with: $0) }
    }
    if let error = answer.errors?.first { throw Refused(error) }
    guard let data = answer.data else { throw URLError(.cannotParseResponse) }
    return data
  }
}

// The positions by id, from a snapshot and then from what changed.
@MainActor final class LivePositions {
  typealias Changes = Api.LiveSubscription.Data.PositionChanges
  private let session: Session
  private var rows: [String: Changes.Upserted] = [:]
  private var cursor: String?
  private var failures = 0
  private var line: AsyncThrowingStream<Changes, Error>.Continuation?
  private var waiting: Task<Void, Never>?
  // Shown beside the list whenever the status is not LIVE.
  private(set) var asOf: Api.DateTime?

  init(session: Session) { self.session = session }

  // Follows until nobody is signed in, or the server says that it is no use to ask again: then it throws.
  func follow() async throws {
    var refused: String?
    while true {
      var token: String?
      var seconds = pause(failures, longest: 30)
      do {
        let fresh = try await session.token(refused: refused)
        token = fresh
        for try await event in events(token: fresh) {
          fold(event)
          failures = 0
          refused = nil
        }
      } catch let lost as WebSocket.WSError where lost.code == 4403 {
        if refused != nil { throw await session.giveUp(lost.message) }
        refused = token
        seconds = 0
      } catch let lost as LineLost {
        if lost.isSilent && failures == 0 { seconds = 0 }
      } catch let refusal as Refused {
        if !refusal.isRetryable { throw refusal }
        seconds += refusal.retryAfter
      } catch let signedOut as SignedOut {
        throw signedOut
      } catch {
        // No line: again after the pause.
      }
      failures += 1
      let nanoseconds = UInt64(seconds * 1_000_000_000)
      waiting = Task { try? await Task.sleep(nanoseconds: nanoseconds) }
      await waiting?.value
      waiting = nil
    }
  }

  // Called where the platform knows of a network that is back, or another: the old line is left to die.
  func networkIsBack() {
    failures = 0
    line?.finish(throwing: LineLost(isSilent: true))
    waiting?.cancel()
  }

  // One connection with one subscription.
  private func events(token: String) -> AsyncThrowingStream<Changes, Error> {
    let transport = WebSocketTransport(
      websocket: WebSocket(url: URL(string: "wss://example.com/graphql")!, protocol: .graphql_transport_ws),
      config: .init(reconnect: false, connectingPayload: ["authorization": "Bearer \(token)"])
    )
    let client = ApolloClient(networkTransport: transport, store: ApolloStore())
    let after: GraphQLNullable<String> = cursor.map { .some($0) } ?? .none
    return AsyncThrowingStream { line in
      self.line = line
      // The heartbeat and ten seconds without an event: then the line is dead, though nobody says so.
      var watchdog: DispatchWorkItem?
      let heard = {
        watchdog?.cancel()
        let next = DispatchWorkItem { line.finish(throwing: LineLost(isSilent: true)) }
        watchdog = next
        DispatchQueue.main.asyncAfter(deadline: .now() + 25, execute: next)
      }
      heard()
      let subscription = client.subscribe(subscription: Api.LiveSubscription(after: after)) { result in
        heard()
        switch result {
        case .failure(let error):
          line.finish(throwing: error)
        case .success(let answer):
          if let event = answer.data?.positionChanges { line.yield(event) } else { line.finish(throwing: answer.errors?.first.map(Refused.init) ?? LineLost(isSilent: false)) }
        }
      }
      line.onTermination = { _ in
        subscription.cancel()
        transport.closeConnection()
      }
    }
  }

  private func fold(_ event: Changes) {
    if event.snapshot { rows.removeAll() }
    for id in event.closed { rows[id] = nil }
    for row in event.upserted { rows[row.id] = row }
    cursor = event.cursor
    asOf = event.asOf
  }
}

// Orders ask `isOnline` before they leave; `onReturn` is the positions' `networkIsBack`.
final class NetworkState {
  private let monitor = NWPathMonitor()
  private var interface: NWInterface.InterfaceType?
  private(set) var isOnline = true
  var onReturn: () -> Void = {}

  func start() {
    monitor.pathUpdateHandler = { path in
      let before = self.isOnline ? self.interface : nil
      self.isOnline = path.status == .satisfied
      self.interface = path.availableInterfaces.first?.type
      if self.isOnline && self.interface != before { self.onReturn() }
    }
    monitor.start(queue: .main)
  }
}

struct Kept: Codable {
  let account: String
  let key: String
  let since: String
}

// Orders, each kept on disk under its key from before it is sent until its outcome is known.
struct Orders {
  let session: Session
  let network: NetworkState
  let folder: URL

  // Nil: the server's records do not reach back to it, so nobody knows.
  func place(symbol: String, side: Api.Side, units: Double) async throws -> Api.Outcome? {
    if !network.isOnline { throw Offline() }
    _ = try await session.token(refused: nil) // No order is kept that nobody could send, and the answer tells the server's time.
    let since = ServerClock.shared.now
    let before = since.addingTimeInterval(30)
    let key = UUID().uuidString
    let input = Api.PlaceOrderInput(
      idempotencyKey: key, kind: .some(.case(.market)), sendBefore: .some(before.ISO8601Format()), side: .case(side),
      size: Api.OrderSize(units: .some(units)), symbol: symbol)
    let kept = Kept(account: session.email, key: key, since: since.ISO8601Format())
    try JSONEncoder().encode(kept).write(to: file(key), options: .atomic)
    var isInDoubt = false
    var failures = 0
    while ServerClock.shared.now < before {
      var seconds = pause(failures, longest: 4)
      do {
        let outcome = try await session.ask(Api.PlaceMutation(input: input)).placeOrder?.fragments.outcome
        // A repeat that came too late says nothing of the requests before it: closing the key does.
        if isInDoubt && outcome?.asOrderRejected?.sent == false { break }
        if let outcome { return end(key, outcome) }
      } catch let refused as Refused {
        if !refused.isRetryable && !isInDoubt {
          try? FileManager.default.removeItem(at: file(key))
          throw refused
        }
        if !refused.isRetryable { break }
        seconds += refused.retryAfter
      } catch let signedOut as SignedOut {
        throw signedOut
      } catch {
        isInDoubt = true
      }
      try await Task.sleep(nanoseconds: UInt64(seconds * 1_000_000_000))
      failures += 1
    }
    return try await close(kept)
  }

  // At the start of the app: ends the doubt about orders of an earlier run, which are not sent again.
  func resume() async throws -> [Api.Outcome] {
    var outcomes: [Api.Outcome] = []
    for file in try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil) where file.pathExtension == "json" {
      let kept = try JSONDecoder().decode(Kept.self, from: Data(contentsOf: file))
      // A key is one account's: for another it would be unused, and the answer that nothing was sent.
      if kept.account == session.email, let outcome = try await close(kept) { outcomes.append(outcome) }
    }
    return outcomes
  }

  // Ends the doubt: its outcome where it was placed, else it never is.
  private func close(_ kept: Kept) async throws -> Api.Outcome? {
    var failures = 0
    while true {
      var seconds = pause(failures, longest: 4)
      do {
        let outcome = try await session.ask(Api.VoidMutation(key: kept.key, since: .some(kept.since))).voidOrder?.fragments.outcome
        if let outcome { return end(kept.key, outcome) }
      } catch let refused as Refused {
        if !refused.isRetryable && refused.code != "IDEMPOTENCY_UNAVAILABLE" { throw refused }
        if !refused.isRetryable {
          try? FileManager.default.removeItem(at: file(kept.key))
          return nil
        }
        seconds += refused.retryAfter
      } catch let signedOut as SignedOut {
        throw signedOut
      } catch {
        // Nobody was asked: again after the pause.
      }
      try await Task.sleep(nanoseconds: UInt64(seconds * 1_000_000_000))
      failures += 1
    }
  }

  // The next run asks again for one that is unknown.
  private func end(_ key: String, _ outcome: Api.Outcome) -> Api.Outcome {
    if outcome.asOrderOutcomeUnknown == nil { try? FileManager.default.removeItem(at: file(key)) }
    return outcome
  }

  private func file(_ key: String) -> URL { folder.appendingPathComponent("\(key).json") }
}
