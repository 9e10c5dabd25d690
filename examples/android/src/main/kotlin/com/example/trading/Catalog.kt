// Never compiled with Apollo's libraries or Android's: README.md says with what it was.
package com.example.trading

import com.apollographql.apollo.api.Optional
import com.example.api.CatalogQuery
import kotlinx.coroutines.flow.MutableStateFlow
import kotlinx.coroutines.flow.StateFlow
import kotlinx.coroutines.flow.asStateFlow

/** A search's instruments so far; a cursor holds also when the catalog is renewed meanwhile. */
data class CatalogPages(
  val search: String? = null,
  val rows: List<CatalogQuery.Node> = emptyList(),
  val cursor: String? = null,
  val hasMore: Boolean = true,
)

class Catalog(private val session: Session) {
  private val shown = MutableStateFlow(CatalogPages())
  val pages: StateFlow<CatalogPages> = shown.asStateFlow()

  suspend fun search(text: String?) {
    shown.value = CatalogPages(search = text)
    more()
  }

  /** The next page, when the list is scrolled to its end. */
  suspend fun more() {
    val before = shown.value
    if (!before.hasMore) return
    val query = CatalogQuery(Optional.presentIfNotNull(before.search), Optional.presentIfNotNull(before.cursor))
    val page = session.ask(session.client.query(query)).instruments ?: return
    val rows = before.rows + page.nodes
    // Unless another search has begun, or another call has this page.
    shown.compareAndSet(before, before.copy(rows = rows, cursor = page.pageInfo.endCursor, hasMore = page.pageInfo.hasNextPage))
  }
}
