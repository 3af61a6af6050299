// Never finds an order.
console.log("impossible");
