// Never compiled: no Swift runs where this project is tested.
import ApolloAPI
import Foundation

private struct Kept: Codable {
  let account: String
  let key: String
  let since: String
}

/// The reasons that speak of each request with the key; there may be others one day.
private let SURE: [GraphQLEnum<Api.UnsentReason>?] = [.case(.voided), .case(.settled)]

/// Orders, each kept on disk under its key from before it is sent until its outcome is known.
@MainActor public final class Orders {
  private let session: Session
  private let network: NetworkState
  private let folder = URL.applicationSupportDirectory.appending(path: "orders")

  init(session: Session, network: NetworkState) {
    self.session = session
    self.network = network
  }

  /// One call for a tap. Nil: the server's records do not reach back to it, so nobody knows.
  public func place(symbol: String, side: Api.Side, units: Double) async throws -> Api.Outcome? {
    guard network.isOnline else { throw Offline() }
    guard let account = session.account else { throw SignedOut(why: "nobody is signed in") }
    let since = try await session.serverTime()
    let before = since.addingTimeInterval(30)
    let kept = Kept(account: account.email, key: UUID().uuidString, since: since.ISO8601Format())
    let input = Api.PlaceOrderInput(
      idempotencyKey: kept.key, keyMade: .some(kept.since), kind: .some(.case(.market)), sendBefore: .some(before.ISO8601Format()), side: .case(side),
      size: .units(units), symbol: symbol)
    try keep(kept)
    // The order runs to its end, whatever the screen does.
    return try await Task { try await settle(kept, input, before) }.value
  }

  /// At the start of the app and after a sign-in: ends the doubt about orders of an earlier run, which are not sent again.
  /// The next start asks about an order whose answer was refused.
  public func resume() async throws -> [Api.Outcome?] {
    var outcomes: [Api.Outcome?] = []
    let files = (try? FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)) ?? []
    for file in files where file.pathExtension == "json" {
      let kept = try JSONDecoder().decode(Kept.self, from: Data(contentsOf: file))
      // A key is one account's: for another it would be unused, and the answer that nothing was sent.
      guard kept.account == session.account?.email else { continue }
      do {
        outcomes.append(try await close(kept))
      } catch is Refused {
        continue
      }
    }
    return outcomes
  }

  /// Sends it, and again under its key, for as long as it is meant; then its key is closed.
  private func settle(_ kept: Kept, _ input: Api.PlaceOrderInput, _ before: Date) async throws -> Api.Outcome? {
    var refusal: Refused?
    var failures = 0
    while try await session.serverTime() < before {
      var seconds = pause(failures, longest: 4)
      do {
        let outcome = try await session.ask(Api.PlaceMutation(input: input), of: kept.account).placeOrder?.fragments.outcome
        // That says nothing of earlier requests, such as one that somebody on the way has sent twice: closing the key does.
        if outcome?.asOrderRejected?.sent == false { break }
        if let outcome { return end(kept, outcome) }
      } catch let refused as Refused {
        refusal = refused
        if !refused.isRetryable { break }
        seconds += refused.retryAfter
      } catch let signedOut as SignedOut {
        throw signedOut
      } catch {
        // No answer: it was sent or not.
        refusal = nil
      }
      try await Task.sleep(for: .seconds(seconds))
      failures += 1
    }
    let outcome = try await close(kept)
    // Surely not placed: the reason is the server's.
    if let refusal, outcome?.asOrderRejected?.sent == false { throw refusal }
    return outcome
  }

  /// Ends the doubt: its outcome where it was placed, else it never is.
  private func close(_ kept: Kept) async throws -> Api.Outcome? {
    var failures = 0
    while true {
      var seconds = pause(failures, longest: 4)
      do {
        if let outcome = try await voided(kept.key, kept) {
          // A repeat is refused so also where the first request is forgotten: a key of the same age tells whether the records reach back.
          let rejected = outcome.asOrderRejected
          if rejected?.sent == false && !SURE.contains(rejected?.reason) { _ = try await voided(UUID().uuidString, kept) }
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
        // Nobody was asked: again after the pause.
      }
      try await Task.sleep(for: .seconds(seconds))
      failures += 1
    }
  }

  private func voided(_ key: String, _ kept: Kept) async throws -> Api.Outcome? {
    try await session.ask(Api.VoidMutation(key: key, since: .some(kept.since)), of: kept.account).voidOrder?.fragments.outcome
  }

  /// The next run asks again for one that is unknown.
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
