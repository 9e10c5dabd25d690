// Never compiled: no Swift runs where this project is tested.
import ApolloAPI
import Observation

/// The instruments page by page; a cursor holds also when the catalog is renewed meanwhile.
@MainActor @Observable public final class Catalog {
  public typealias Row = Api.CatalogQuery.Data.Instruments.Node
  public private(set) var rows: [Row] = []
  public private(set) var hasMore = true
  @ObservationIgnored private let session: Session
  @ObservationIgnored private var search: String?
  @ObservationIgnored private var cursor: String?

  init(session: Session) { self.session = session }

  public func search(_ text: String?) async throws {
    search = text
    cursor = nil
    rows = []
    hasMore = true
    try await more()
  }

  /// The next page, when the list is scrolled to its end.
  public func more() async throws {
    guard hasMore else { return }
    let (asked, after) = (search, cursor)
    let page = try await session.ask(Api.CatalogQuery(search: asked ?? .none, after: after ?? .none)).instruments
    // Another search has begun, or another call has this page.
    guard let page, asked == search, after == cursor else { return }
    rows += page.nodes
    cursor = page.pageInfo.endCursor
    hasMore = page.pageInfo.hasNextPage
  }
}
