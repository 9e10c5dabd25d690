plugins {
  id("com.apollographql.apollo") version "4.3.3"
}

dependencies {
  implementation("com.apollographql.apollo:apollo-runtime:4.3.3")
}

apollo {
  service("tradingGraph") {
    packageName.set("com.example.api")
    schemaFiles.from("src/main/graphql/schema.graphqls")
    mapScalarToKotlinString("DateTime")
  }
}
