"""Bench of the seat map: the product against QGraphicsScene and pyqtgraph, and its plans."""
