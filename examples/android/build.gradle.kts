// This file was never run, because this project is tested without Gradle and the Android SDK.
plugins {
  id("com.android.library") version "8.11.2"
  id("org.jetbrains.kotlin.android") version "2.3.10"
  id("com.apollographql.apollo") version "5.1.0"
}

android {
  namespace = "com.example.trading"
  compileSdk = 35
  defaultConfig { minSdk = 26 }
}

kotlin { jvmToolchain(17) }

dependencies {
  implementation("com.apollographql.apollo:apollo-runtime:5.1.0")
}

apollo {
  service("tradingGraph") {
    packageName.set("com.example.api")
    srcDir("../ios/graphql")
    schemaFiles.from("../../schema.graphql")
    mapScalarToKotlinString("DateTime")
  }
}
