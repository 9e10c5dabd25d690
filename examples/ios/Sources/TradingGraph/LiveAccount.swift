// Never compiled: no Swift runs where this project is tested.
import Apollo
import ApolloAPI
import Foundation
import Observation

/// The account from a snapshot, and then from what changed.
public struct AccountState {
  public var positions: [String: Api.PositionRow] = [:]
  public var orders: [String: Api.OrderRow] = [:]
  public var figures: Api.Figures?
  /// Nil while there is no connection.
  public var status: GraphQLEnum<Api.FeedStatus>?
  /// Shown beside the list whenever the status is not `LIVE`.
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
  @ObservationIgnored private var refused: String?
  @ObservationIgnored private var failures = 0
  @ObservationIgnored private var isLineDead = false
  @ObservationIgnored private var step: Task<Void, any Error>?

  init(session: Session) { self.session = session }

  /// Follows until nobody is signed in, or the server says that it is no use to ask again: then it throws.
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
        // The line is lost.
        if (error as? URLError)?.code == .timedOut { isLineDead = true }
      }
      // A renewed token may end while the next line is waited for.
      if sent != nil && sent != refused { refused = nil }
      state.status = nil
      failures += 1
      if !isLineDead { try? await run { try await Task.sleep(for: .seconds(seconds)) } }
      if isLineDead { await session.leaveConnections() }
      isLineDead = false
    }
  }

  /// Called where the platform knows of a network that is back, or another.
  func networkIsBack() {
    failures = 0
    isLineDead = true
    step?.cancel()
  }

  /// Called where somebody has signed in or out.
  func accountChanged() {
    begin(nil)
    networkIsBack()
  }

  /// Nothing of another account is shown, nor gone on from.
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

  /// Until it ends, the screen is left, or `networkIsBack`.
  private func run(_ work: @escaping @MainActor () async throws -> Void) async throws {
    let task = Task { try await work() }
    step = task
    try await withTaskCancellationHandler { try await task.value } onCancel: { task.cancel() }
  }
}
