// swift-tools-version:6.1
// This package was never built, because this project is tested without Swift.
import PackageDescription

let package = Package(
  name: "TradingGraph",
  platforms: [.iOS(.v17)],
  products: [.library(name: "TradingGraph", targets: ["TradingGraph"])],
  dependencies: [.package(url: "https://github.com/apollographql/apollo-ios", exact: "2.4.0")],
  targets: [
    .target(
      name: "TradingGraph",
      dependencies: [.product(name: "Apollo", package: "apollo-ios"), .product(name: "ApolloAPI", package: "apollo-ios")]
    )
  ]
)
