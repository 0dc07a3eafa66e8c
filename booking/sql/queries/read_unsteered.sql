SELECT * FROM unsteered_admission()
