"""Read by type checkers only (test_typing.py): every name that users write has a type."""
import coforest

zoo = coforest.datasets.load_zoo()
model = coforest.COForest(7, random_state=1, handle_unknown="ignore", bins=8).fit(zoo.data)
labels = model.predict(zoo.data)
print(labels.dtype, model.profiles_, model.to_frame("margins"), model.pairwise_distances().shape, model.trees_["legs"].values)
km = coforest.KModes(4, init="Huang", n_init=5).fit(zoo.data)
print(km.cluster_centroids_, km.cost_, km.epoch_costs_[-1])
kp = coforest.KPrototypes(2, gamma=0.5).fit([[1.0, "a"], [2.0, "b"]], categorical=[1])
print(kp.predict([[1.0, "a"]], categorical=[1]), coforest.load("x").score(zoo.data))
coforest.plots.plot_k_curve(model)
