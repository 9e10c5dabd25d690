// Never compiled: no Swift runs where this project is tested.
import Foundation
import Network

/// The parts of an app that share a session.
@MainActor public final class TradingGraph {
  public let session: Session
  public let account: LiveAccount
  public let catalog: Catalog
  public let orders: Orders
  private let network = NetworkState()

  /// `onAnswer` keeps the id of each request as a breadcrumb of the app's reports.
  public init(url: URL, onAnswer: @escaping @Sendable (Breadcrumb) -> Void) {
    session = Session(url: url, onAnswer: onAnswer)
    account = LiveAccount(session: session)
    catalog = Catalog(session: session)
    orders = Orders(session: session, network: network)
    network.start { [account] in account.networkIsBack() }
    session.onAccount = { [account] in account.accountChanged() }
  }

  /// The first screen in one query. A field that failed is nil, the others are there.
  public func home() async throws -> Api.HomeQuery.Data { try await session.ask(Api.HomeQuery(), partial: true) }
}

@MainActor final class NetworkState {
  private let monitor = NWPathMonitor()
  private var interface: NWInterface.InterfaceType?
  private(set) var isOnline = true

  func start(onReturn: @escaping @MainActor () -> Void) {
    monitor.pathUpdateHandler = { path in
      let isOnline = path.status == .satisfied
      let interface = path.availableInterfaces.first?.type
      Task { @MainActor in
        let before = self.isOnline ? self.interface : nil
        self.isOnline = isOnline
        self.interface = interface
        if isOnline && interface != before { onReturn() }
      }
    }
    monitor.start(queue: .main)
  }
}
