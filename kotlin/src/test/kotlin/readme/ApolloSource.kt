package readme

import com.apollographql.apollo.ApolloClient
import com.apollographql.apollo.annotations.ApolloExperimental
import com.apollographql.apollo.api.Subscription
import com.apollographql.apollo.api.composeJsonResponse
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.FlowPreview
import kotlinx.coroutines.flow.*
import kotlinx.serialization.json.*
import tradinggraph.LiveSource
import tradinggraph.TradingGraphException

/** [subscription] makes your generated subscription to `accountChanges` after a cursor. */
class ApolloSource<D : Subscription.Data>(private val apollo: ApolloClient, private val subscription: (String?) -> Subscription<D>) : LiveSource {
  @OptIn(FlowPreview::class, ApolloExperimental::class)
  override fun events(after: () -> String?): Flow<JsonObject> = flow {
    val operation = subscription(after())
    // Ten seconds more than the heartbeat: a connection that is silent for so long is dead.
    emitAll(apollo.subscription(operation).toFlow().timeout(25.seconds).map { response ->
      response.exception?.let { throw it }
      response.errors?.firstOrNull()?.let { error ->
        val extensions = error.extensions.orEmpty()
        throw TradingGraphException("${extensions["code"]}", error.message, retryable = extensions["retryable"] == true)
      }
      val text = operation.composeJsonResponse(response.data!!)
      Json.parseToJsonElement(text).jsonObject.getValue("data").jsonObject.getValue("accountChanges").jsonObject
    })
  }
}
