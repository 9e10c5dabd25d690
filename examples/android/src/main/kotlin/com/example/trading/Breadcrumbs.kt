// Never compiled with Apollo's libraries or Android's: README.md says with what it was.
package com.example.trading

import com.apollographql.apollo.api.ApolloRequest
import com.apollographql.apollo.api.ApolloResponse
import com.apollographql.apollo.api.Operation
import com.apollographql.apollo.api.Subscription
import com.apollographql.apollo.interceptor.ApolloInterceptor
import com.apollographql.apollo.interceptor.ApolloInterceptorChain
import com.apollographql.apollo.network.http.HttpInfo
import java.util.UUID
import kotlinx.coroutines.flow.Flow
import kotlinx.coroutines.flow.onEach

/** A request as a crash report keeps it: the server's log has the same id. Without an answer there is no status. */
data class Breadcrumb(val operation: String, val requestId: String, val status: Int?)

/** A subscription has no request of its own: its socket would be another one for each id. */
class Breadcrumbs(private val onAnswer: (Breadcrumb) -> Unit) : ApolloInterceptor {
  override fun <D : Operation.Data> intercept(
    request: ApolloRequest<D>,
    chain: ApolloInterceptorChain,
  ): Flow<ApolloResponse<D>> {
    if (request.operation is Subscription<*>) return chain.proceed(request)
    val requestId = UUID.randomUUID().toString()
    return chain.proceed(request.newBuilder().addHttpHeader("x-request-id", requestId).build()).onEach {
      onAnswer(Breadcrumb(request.operation.name(), requestId, it.executionContext[HttpInfo]?.statusCode))
    }
  }
}
